import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { Config } from '../platform/config.ts'
import { takes } from './list.ts'
import { PARAMS } from './params.ts'
import { RATE_LIMITS } from './rate-limit.ts'
import type { Answer, Endpoint } from './route.ts'
import { EVENT_STREAM } from './sse.ts'

/** The settings that affect the document. */
export type Access = Pick<Config, 'mode' | 'requireToken' | 'trustProxy'>

export type Schemas = Record<string, JsonSchema>

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string | undefined
  schema: JsonSchema
  explode?: boolean
}

export type Content = Record<string, { schema: JsonSchema }>

export interface Response {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Content
}

/** An endpoint as an operation of the OpenAPI document. */
export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters: Parameter[]
  requestBody?: { required: boolean; description?: string; content: Content }
  responses: Record<string, Response | { $ref: string }>
  security: Record<string, never[]>[]
}

/** @param schemas receives the schemas that the endpoint refers to */
export function operationOf(endpoint: Endpoint, schemas: Schemas, access: Access): Operation {
  const { id, summary, description, who } = endpoint
  return {
    operationId: id,
    summary,
    description: [description, `For ${who.map((one) => one.name).join(', ')}.`].filter(Boolean).join(' '),
    tags: [id.split('.')[0]!],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint, schemas), ...headersOf(endpoint)],
    ...bodyOf(endpoint, schemas),
    responses: responsesOf(endpoint, schemas),
    security: securityOf(endpoint, access),
  }
}

const pathParameters = ({ path }: Endpoint): Parameter[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMS[name],
    schema: { type: 'string' },
  }))

/**
 * The parameters of a query. They are text in the URL, so the input types of
 * the schema are described, not its output types.
 */
function queryParameters({ id, query }: Endpoint, schemas: Schemas): Parameter[] {
  if (!query) return []
  const { required = [] } = schemaOf(query, 'input', `${id}.query`, schemas)
  const { properties = {} } = schemaOf(query, 'output', `${id}.query`, schemas)
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: schema.type === 'integer' ? { ...schema, default: Number(schema.default) } : schema,
    ...(schema.type === 'array' && { explode: false }),
  }))
}

/** Whether a response has an `ETag`, so that a client can revalidate its copy. */
const isTagged = ({ method, responses, ...endpoint }: Endpoint) =>
  method === 'GET' && (304 in responses || (typeof responses[200] === 'object' && !takes(endpoint, 'after')))

function headersOf(endpoint: Endpoint): Parameter[] {
  const { method, who, responses, secret, streams = false } = endpoint
  const isForAnybody = who.every(({ by }) => by.length === 1 && by[0] === 'nothing')
  const headers: [string, string | false][] = [
    [
      'Idempotency-Key',
      method === 'POST' &&
        !isForAnybody &&
        `1 to 255 characters. The same request with the same key is done once, for 24 hours${
          secret ? '; asked again it is a 409, since its answer is shown once' : ''
        }.`,
    ],
    ['If-None-Match', isTagged(endpoint) && 'The `ETag` of an answer: while nothing has changed, the answer is 304.'],
    [
      'Last-Event-ID',
      (responses[200] === EVENT_STREAM || streams) &&
        'The id of the last event that arrived: the stream goes on after it.',
    ],
  ]
  return headers.flatMap(([name, description]) =>
    description === false ? [] : [{ name, in: 'header', required: false, description, schema: { type: 'string' } }],
  )
}

function bodyOf({ id, body, upload, form, bodyOptional, bodyLimit, bodyFields }: Endpoint, schemas: Schemas) {
  if (!body) return {}
  const limits = [
    ...(bodyLimit === undefined ? [] : [`${bodyLimit.toLocaleString('en')} bytes`]),
    ...(bodyFields === undefined ? [] : [`${bodyFields.toLocaleString('en')} fields`]),
  ]
  const type = upload ? 'multipart/form-data' : form ? 'application/x-www-form-urlencoded' : 'application/json'
  const schema = upload ? FILE_FORM : schemaOf(body, 'input', `${id}.body`, schemas)
  return {
    requestBody: {
      required: !bodyOptional,
      ...(limits.length > 0 && { description: `At most ${limits.join(' and ')}.` }),
      content: { [type]: { schema } },
    },
  }
}

/** The form of an upload. Fields other than the file are accepted and ignored. */
const FILE_FORM: JsonSchema = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The file.' } },
  additionalProperties: { type: 'string' },
}

function responsesOf(endpoint: Endpoint, schemas: Schemas): Operation['responses'] {
  const { id, summary, responses, limits } = endpoint
  const names = [
    'X-Request-Id',
    ...(isTagged(endpoint) ? ['ETag'] : []),
    ...(takes(endpoint, 'after') ? ['Link'] : []),
    ...(takes(endpoint, 'count') ? ['X-Total-Count'] : []),
  ]
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const documented: Operation['responses'] = {}
  for (const [status, answer] of Object.entries(responses)) {
    const content = contentOf(answer, `${id}.${status}`, schemas)
    if (endpoint.streams && content) content[EVENT_STREAM] = { schema: { type: 'string' } }
    documented[status] = { description: status === '304' ? UNCHANGED : summary, headers, ...(content && { content }) }
  }
  if (isTagged(endpoint)) documented['304'] ??= { description: UNCHANGED, headers }
  if (limits) documented['429'] = { ...tooOften(limits), content: ERROR_CONTENT }
  return { ...documented, default: { $ref: '#/components/responses/Error' } }
}

const UNCHANGED = 'Nothing has changed.'

export const ERROR_CONTENT: Content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

const tooOften = (limits: NonNullable<Endpoint['limits']>): Response => ({
  description: `Too often. Where people sign in, it is allowed ${limits
    .map((limit) => `${RATE_LIMITS[limit].times} times in ${RATE_LIMITS[limit].seconds / 60} minutes`)
    .join(', and ')}.`,
  headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
})

function contentOf(answer: Answer, name: string, schemas: Schemas): Content | undefined {
  if (answer === null) return undefined
  if (typeof answer !== 'string') return { 'application/json': { schema: schemaOf(answer, 'output', name, schemas) } }
  return { [answer]: { schema: answer.startsWith('text/') ? { type: 'string' } : {} } }
}

/**
 * Returns how a request authenticates; nothing where anyone may call, or where
 * everyone who reaches the server is the board.
 */
function securityOf({ who }: Endpoint, { mode, requireToken }: Access): Operation['security'] {
  const isOpen = mode === 'local_trusted' && !requireToken
  const ways = new Set(
    who.flatMap(({ by, name }) => (isOpen || name === 'anyone' ? by : by.filter((way) => way !== 'nothing'))),
  )
  return [...ways].map((way) => (way === 'nothing' ? {} : { [way]: [] }))
}

/** Converts a schema to JSON Schema. A schema that it refers to (a tree refers to itself) is added to the document. */
export function schemaOf(
  schema: v.GenericSchema,
  typeMode: 'input' | 'output',
  name: string,
  schemas: Schemas,
): JsonSchema {
  const { $schema: _, $defs, ...whole } = toJsonSchema(schema, { errorMode: 'ignore', typeMode })
  if (!$defs) return whole
  const moved = (part: unknown): JsonSchema =>
    JSON.parse(JSON.stringify(part).replaceAll('"$ref":"#/$defs/', `"$ref":"#/components/schemas/${name}.`))
  for (const [key, definition] of Object.entries($defs)) schemas[`${name}.${key}`] = moved(definition)
  return moved(whole)
}
