import type { JsonSchema } from '@valibot/to-json-schema'
import { variantsOf } from '../../http/sample.ts'
import type { Schemas } from '../../http/schemas.ts'
import { type Key, keyOf } from '../guide/keys.ts'

/**
 * Lists the fields of a schema, including nested ones, each once: `title`,
 * `heartbeat.intervalSec`, `labels[].id`, `files.*`.
 *
 * @param schemas the schemas to which `$ref` refers; a recursive one is expanded once
 */
export function fieldsOf(
  schema: JsonSchema,
  schemas: Schemas['components'],
  at = '',
  within: readonly string[] = [],
): Key[] {
  const name = schema.$ref?.slice('#/components/schemas/'.length)
  if (name !== undefined) {
    return within.includes(name) ? [] : fieldsOf(schemas[name] ?? {}, schemas, at, [...within, name])
  }
  const inside = (inner: unknown, at: string) => fieldsOf((inner ?? {}) as JsonSchema, schemas, at, within)
  if (schema.items) return inside(schema.items, at === '' ? '' : `${at}[]`)
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = at === '' ? name : `${at}.${name}`
    return [keyOf(path, property as JsonSchema, schema.required?.includes(name) ?? false), ...inside(property, path)]
  })
  const others = typeof schema.additionalProperties === 'object' ? inside(schema.additionalProperties, `${at}.*`) : []
  return once([...fields, ...others, ...variantsOf(schema).flatMap((variant) => inside(variant, at))])
}

const once = (fields: readonly Key[]): Key[] => [
  ...new Map(fields.map((field) => [JSON.stringify(field), field])).values(),
]
