import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type { Config } from '../platform/config.ts'
import { errorsOf } from './error-responses.ts'
import { filterDescription } from './field-descriptions.ts'
import { takes } from './list.ts'
import { PARAMS } from './params.ts'
import { RATE_LIMITS } from './rate-limit.ts'
import type { Endpoint, ResponseSchema } from './route.ts'
import { SAMPLE_TEXTS, sampleOf } from './sample.ts'
import type { Schemas } from './schemas.ts'
import { EVENT_STREAM } from './sse.ts'

/** The settings that affect the document. */
export type Access = Pick<Config, 'mode' | 'requireToken' | 'trustProxy'>

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string | undefined
  schema: JsonSchema
  explode?: boolean
}

export type Content = Record<string, { schema: JsonSchema; example?: unknown }>

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

export function operationOf(endpoint: Endpoint, schemas: Schemas, access: Access): Operation {
  const { id, summary, description, who } = endpoint
  return {
    operationId: id,
    summary,
    description: [description, `Callers: ${who.map((one) => one.name).join(', ')}.`].filter(Boolean).join(' '),
    tags: [id.split('.')[0]!],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint), ...headersOf(endpoint)],
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

/** The parameters of a query. They are text in the URL; the document describes the values that the text stands for. */
function queryParameters({ query }: Endpoint): Parameter[] {
  if (!query) return []
  const { required = [] } = toJsonSchema(query, { errorMode: 'ignore', typeMode: 'input' })
  const { properties = {} } = toJsonSchema(query, { errorMode: 'ignore', typeMode: 'output' })
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: description ?? filterDescription(name),
    schema: typedSchema(schema),
    ...(schema.type === 'array' && { explode: false }),
  }))
}

/** Returns the schema of a parameter as a number or a boolean. In the URL, its value is text. */
function typedSchema(schema: JsonSchema): JsonSchema {
  if (schema.type === 'integer') return { ...schema, default: Number(schema.default) }
  if (schema.enum?.length !== 2 || !schema.enum.includes('true') || !schema.enum.includes('false')) return schema
  return { type: 'boolean', ...(schema.default !== undefined && { default: schema.default === 'true' }) }
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
        `1 to 255 characters. For 24 hours, the server processes repeated requests with the same key only once${
          secret ? '. A repeated request is a 409, because its response contains a secret' : ''
        }.`,
    ],
    [
      'If-None-Match',
      isTagged(endpoint) && 'The `ETag` of an earlier response. If nothing has changed, the response is 304.',
    ],
    [
      'Last-Event-ID',
      (responses[200] === EVENT_STREAM || streams) && 'The id of the last received event. The stream resumes after it.',
    ],
  ]
  return headers.flatMap(([name, description]) =>
    description === false ? [] : [{ name, in: 'header', required: false, description, schema: { type: 'string' } }],
  )
}

function bodyOf({ body, upload, form, bodyOptional, bodyLimit, bodyFields }: Endpoint, schemas: Schemas) {
  if (!body) return {}
  const limits = [
    ...(bodyLimit === undefined ? [] : [`${bodyLimit.toLocaleString('en')} bytes`]),
    ...(bodyFields === undefined ? [] : [`${bodyFields.toLocaleString('en')} fields`]),
  ]
  const type = upload ? 'multipart/form-data' : form ? 'application/x-www-form-urlencoded' : 'application/json'
  const schema = upload ? FILE_FORM : schemas.ofBody(body)
  const example = upload ? undefined : sampleOf(schema, { components: schemas.components, text: exampleText })
  return {
    requestBody: {
      required: !bodyOptional,
      ...(limits.length > 0 && { description: `At most ${limits.join(' and ')}.` }),
      content: { [type]: { schema, ...(example !== undefined && { example }) } },
    },
  }
}

/** A text that a schema takes. */
const exampleText = (name: string, { format, pattern }: JsonSchema): string => {
  if (format === 'uuid') return '01a201f2-ac0a-7686-b150-64378011f54a'
  if (format === 'date-time') return '2026-11-21T09:00:00.000Z'
  const known = SAMPLE_TEXTS[name] ?? (/Ids?$/.test(name) ? '01a201f2-ac0a-7686-b150-64378011f54a' : name || 'text')
  return pattern === undefined || new RegExp(pattern, 'u').test(known) ? known : known.toLowerCase()
}

/** The form of an upload. Fields other than the file are accepted and ignored. */
const FILE_FORM: JsonSchema = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The file.' } },
  additionalProperties: { type: 'string' },
}

function responsesOf(endpoint: Endpoint, schemas: Schemas): Operation['responses'] {
  const { summary, responses, limits } = endpoint
  const names = [
    'X-Request-Id',
    ...(isTagged(endpoint) ? ['ETag'] : []),
    ...(takes(endpoint, 'after') ? ['Link'] : []),
    ...(takes(endpoint, 'count') ? ['X-Total-Count'] : []),
  ]
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const documented: Operation['responses'] = {}
  for (const [status, schema] of Object.entries(responses)) {
    const content = contentOf(schema, schemas)
    if (endpoint.streams && content) content[EVENT_STREAM] = { schema: { type: 'string' } }
    documented[status] = { description: status === '304' ? UNCHANGED : summary, headers, ...(content && { content }) }
  }
  if (isTagged(endpoint)) documented['304'] ??= { description: UNCHANGED, headers }
  if (limits) documented['429'] = { ...tooOften(limits), content: ERROR_CONTENT }
  return { ...errorsOf(endpoint), ...documented, default: { $ref: '#/components/responses/Error' } }
}

const UNCHANGED = 'Nothing has changed.'

export const ERROR_CONTENT: Content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

const tooOften = (limits: NonNullable<Endpoint['limits']>): Response => ({
  description: `Too many requests. In authenticated mode, the limit is ${limits
    .map((limit) => `${RATE_LIMITS[limit].times} times in ${RATE_LIMITS[limit].seconds / 60} minutes`)
    .join(', and ')}.`,
  headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
})

function contentOf(schema: ResponseSchema, schemas: Schemas): Content | undefined {
  if (schema === null) return undefined
  if (typeof schema !== 'string') return { 'application/json': { schema: schemas.ofResponse(schema) } }
  return { [schema]: { schema: schema.startsWith('text/') ? { type: 'string' } : {} } }
}

/**
 * Returns the accepted credentials of an endpoint. An empty object means that
 * no credential is required: anyone may call the endpoint, or every client of
 * the server is the board.
 */
function securityOf({ who }: Endpoint, { mode, requireToken }: Access): Operation['security'] {
  const isOpen = mode === 'local_trusted' && !requireToken
  const ways = new Set(
    who.flatMap(({ by, name }) => (isOpen || name === 'anyone' ? by : by.filter((way) => way !== 'nothing'))),
  )
  return [...ways].map((way) => (way === 'nothing' ? {} : { [way]: [] }))
}
