import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { variantsOf } from '../../http/sample.ts'

/** A key of an object that a request takes, as a guide tells it. */
export interface Key {
  name: string
  type: string
  required: boolean
  /** As JSON; undefined when the schema sets none. */
  fallback: string | undefined
  description: string
}

/** The keys of a schema for an object, in its own order. */
export function keysOf(schema: GenericSchema): Key[] {
  const { properties = {}, required = [] } = toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'input' })
  return Object.entries(properties).map(([name, property]) =>
    keyOf(name, property as JsonSchema, required.includes(name)),
  )
}

/** Keys as a markdown list, a line each. */
export const listKeys = (keys: readonly Key[]): string =>
  keys
    .map(({ name, type, required, fallback, description }) => {
      const presence = required ? 'required' : fallback === undefined ? 'optional' : `default ${fallback}`
      return `- \`${name}\` (${type}, ${presence}): ${description}`
    })
    .join('\n')

/** A key of an object, of the schema of what it holds. */
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

/** How many values of an enumeration are told in place. */
const SHOWN_VALUES = 12

/** What a schema takes, in words. */
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
