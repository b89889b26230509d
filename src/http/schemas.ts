import { type JsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { fieldDescription } from './field-descriptions.ts'
import type { Endpoint, ResponseSchema } from './route.ts'

/** The schemas of an OpenAPI document, each once and by name. */
export interface Schemas {
  components: Record<string, JsonSchema>
  /** Refers to the schema of a request body. */
  ofBody(schema: GenericSchema): JsonSchema
  /** Refers to the schema of a response, or describes a list of such. */
  ofResponse(schema: GenericSchema): JsonSchema
}

type Names = ReadonlyMap<GenericSchema, string>

/**
 * Converts the schemas of endpoints to JSON Schema. Each has a name: one of
 * `names`, else one made from the operation that uses it first. Requests
 * refuse unknown fields. Responses are open: a later version may add fields.
 */
export function collectSchemas(
  endpoints: readonly Endpoint[],
  names: Readonly<Record<string, GenericSchema>> = {},
): Schemas {
  const known: Names = new Map(Object.entries(names).map(([name, schema]) => [schema, name]))
  const outputs = new Map(known)
  const roots = new Set<string>()
  for (const { id, responses } of endpoints) {
    for (const response of Object.values(responses)) {
      const schema = elementOf(response)
      if (!schema) continue
      if (!outputs.has(schema)) outputs.set(schema, `${pascalCase(id)}Response`)
      roots.add(outputs.get(schema)!)
    }
  }
  const open = reachable(convert(outputs, 'output'), roots)

  const inputs = new Map<GenericSchema, string>()
  for (const { id, body, upload } of endpoints) {
    if (!body || upload || inputs.has(body)) continue
    const name = known.get(body)
    inputs.set(body, name === undefined || name in open ? `${pascalCase(id)}Request` : name)
  }
  const strict = convert(inputs, 'input')

  const components: Record<string, JsonSchema> = {}
  for (const [name, schema] of Object.entries({ ...open, ...strict }).sort(([a], [b]) => (a < b ? -1 : 1))) {
    components[name] = finish(schema, name in open)
  }
  const ofResponse = (schema: GenericSchema): JsonSchema => {
    const { item, wrapped } = schema as Wrapper
    const name = outputs.get(schema)
    if (name !== undefined) return referTo(name)
    return item ? { type: 'array', items: ofResponse(item) } : { anyOf: [ofResponse(wrapped!), { type: 'null' }] }
  }
  return { components, ofBody: (schema) => referTo(inputs.get(schema)!), ofResponse }
}

/** Returns the schema that a `$ref` refers to, or the schema itself if it has no `$ref`. */
export function resolveSchema(schema: JsonSchema, components: Schemas['components']): JsonSchema {
  return schema.$ref === undefined ? schema : components[schema.$ref.slice(PREFIX.length)]!
}

const PREFIX = '#/components/schemas/'
const referTo = (name: string): JsonSchema => ({ $ref: PREFIX + name })

type Wrapper = GenericSchema & { item?: GenericSchema; wrapped?: GenericSchema; pipe?: unknown }

/** Returns the schema that receives a name: the element of a list, or the schema inside a nullable one. */
function elementOf(schema: ResponseSchema): GenericSchema | undefined {
  if (schema === null || typeof schema === 'string') return undefined
  const { type, item, wrapped, pipe } = schema as Wrapper
  if (pipe === undefined && type === 'array') return elementOf(item!)
  if (pipe === undefined && type === 'nullable') return elementOf(wrapped!)
  return schema
}

/** `agents.setBudget` as `AgentsSetBudget`. */
const pascalCase = (id: string) => id.replaceAll(/(?:^|[.-])(\w)/g, (_, letter: string) => letter.toUpperCase())

const convert = (names: Names, typeMode: 'input' | 'output') =>
  toJsonSchemaDefs(Object.fromEntries([...names].map(([schema, name]) => [name, schema])), {
    errorMode: 'ignore',
    typeMode,
    overrideRef: ({ referenceId }) => PREFIX + referenceId,
  })

/** The schemas that others refer to, from some roots on. */
function reachable(all: Record<string, JsonSchema>, roots: Iterable<string>): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {}
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name in found) continue
    found[name] = all[name]!
    for (const [, inner] of JSON.stringify(all[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) open.push(inner!)
  }
  return found
}

/** Describes the fields of a schema, and opens those of a response. */
function finish(schema: JsonSchema, isOpen: boolean): JsonSchema {
  const { additionalProperties, properties, ...rest } = schema
  const inside = (inner: unknown) => finish(inner as JsonSchema, isOpen)
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([field, inner]) => [field, describe(inside(inner), field)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inside(additionalProperties) }),
    ...(additionalProperties === false && !isOpen && { additionalProperties }),
    ...(schema.items !== undefined && { items: inside(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(inside) }),
    ...(schema.oneOf && { oneOf: schema.oneOf.map(inside) }),
    ...(schema.allOf && { allOf: schema.allOf.map(inside) }),
  }
}

/** Puts the description of a field first: a nullable one has it inside. */
function describe(schema: JsonSchema, field: string): JsonSchema {
  if (schema.description !== undefined) return schema
  const inner = (schema.anyOf as JsonSchema[] | undefined)?.find((one) => one.description !== undefined)
  const description = inner?.description ?? fieldDescription(field)
  return description === undefined ? schema : { description, ...schema }
}
