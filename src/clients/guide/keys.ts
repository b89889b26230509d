import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { variantsOf } from '../../http/sample.ts'

/** The description of a key in the body of a request. */
export interface Key {
  name: string
  type: string
  required: boolean
  /** The default value as JSON. Undefined if the schema has none. */
  fallback: string | undefined
  description: string
}

/** Lists the keys of an object schema, in its order. */
export function keysOf(schema: GenericSchema): Key[] {
  const { properties = {}, required = [] } = toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'input' })
  return Object.entries(properties).map(([name, property]) =>
    keyOf(name, property as JsonSchema, required.includes(name)),
  )
}

/** Formats keys as a markdown list, one line each. */
export const listKeys = (keys: readonly Key[]): string =>
  keys
    .map(({ name, type, required, fallback, description }) => {
      const presence = required ? 'required' : fallback === undefined ? 'optional' : `default ${fallback}`
      return `- \`${name}\` (${type}, ${presence}): ${description}`
    })
    .join('\n')

/** Describes a key by the schema of its value. */
export function keyOf(name: string, property: JsonSchema, required: boolean): Key {
  const fallback = property.default === undefined ? undefined : JSON.stringify(property.default)
  return { name, type: typeOf(property), required, fallback, description: descriptionOf(property) }
}

const descriptionOf = (property: JsonSchema): string =>
  property.description ??
  variantsOf(property)
    .map(descriptionOf)
    .find((text) => text !== '') ??
  ''

/** The number of values of an enumeration that are listed. Longer ones are only counted. */
const SHOWN_VALUES = 12

/** Describes the type of a schema in words. */
export function typeOf(property: JsonSchema): string {
  const variants = variantsOf(property)
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(' or ')
  if (property.$ref) return 'object'
  if (property.const !== undefined) return JSON.stringify(property.const)
  if (property.enum && property.enum.length > SHOWN_VALUES) return `one of ${property.enum.length} names`
  if (property.enum) return property.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (property.type === 'array') return `array of ${typeOf(property.items as JsonSchema)}`
  const { minimum, maximum, format } = property
  const range = minimum !== undefined && maximum !== undefined ? ` from ${minimum} to ${maximum}` : ''
  return `${property.type ?? 'any'}${format ? ` (${format})` : ''}${range}`
}
