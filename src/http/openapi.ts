import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { packageVersion } from '../config.ts'
import { ERROR_STATUS } from '../errors.ts'
import { type Endpoint, route } from './route.ts'
import { anyone } from './who.ts'

/** The shape of every error answer. */
export const ErrorAnswer = v.strictObject({
  error: v.pipe(v.string(), v.description('A sentence that says what to do.')),
  code: v.picklist(Object.keys(ERROR_STATUS) as (keyof typeof ERROR_STATUS)[]),
  details: v.optional(v.unknown()),
  requestId: v.string(),
})

/** The OpenAPI 3.1 document of the endpoints, from the same data that serves them. */
export function openapiDocument(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  const schemas: Schemas = {}
  schemas.Error = schemaOf(ErrorAnswer, 'output', 'Error', schemas)
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][endpoint.method.toLowerCase()] = operation(endpoint, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'service',
      version: packageVersion(),
      description: 'The control plane that organizations of AI agents run on.',
    },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas,
    },
  }
}

type Schemas = Record<string, JsonSchema>

/** A schema as JSON Schema; what it refers to (a tree refers to itself) becomes a schema of the document. */
function schemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output', name: string, schemas: Schemas): JsonSchema {
  const { $schema: _, $defs, ...whole } = toJsonSchema(schema, { errorMode: 'ignore', typeMode })
  if (!$defs) return whole
  const moved = (part: unknown): JsonSchema =>
    JSON.parse(JSON.stringify(part).replaceAll('"$ref":"#/$defs/', `"$ref":"#/components/schemas/${name}.`))
  for (const [key, definition] of Object.entries($defs)) schemas[`${name}.${key}`] = moved(definition)
  return moved(whole)
}

function operation(endpoint: Endpoint, schemas: Schemas) {
  const pathParameters = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const query = endpoint.query ? schemaOf(endpoint.query, 'input', `${endpoint.id}.query`, schemas) : {}
  const queryParameters = Object.entries(query.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema,
  }))
  const responses: Record<string, unknown> = {
    default: {
      description: 'An error',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  }
  for (const [status, schema] of Object.entries(endpoint.answers)) {
    responses[status] = {
      description: endpoint.summary,
      ...(schema && {
        content: { 'application/json': { schema: schemaOf(schema, 'output', `${endpoint.id}.${status}`, schemas) } },
      }),
    }
  }
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: [endpoint.description, `For ${endpoint.who.map((who) => who.name).join(', ')}.`]
      .filter(Boolean)
      .join(' '),
    tags: [endpoint.id.split('.')[0]],
    parameters: [...pathParameters, ...queryParameters],
    ...(endpoint.upload && { requestBody: { required: true, content: { 'multipart/form-data': FILE_FORM } } }),
    ...(endpoint.body &&
      !endpoint.upload && {
        requestBody: {
          required: !endpoint.bodyOptional,
          content: { 'application/json': { schema: schemaOf(endpoint.body, 'input', `${endpoint.id}.body`, schemas) } },
        },
      }),
    responses,
    security: endpoint.who.includes(anyone) ? [] : [{}, { bearer: [] }],
  }
}

/** The form of an upload. */
const FILE_FORM = {
  schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
}

/** `GET /api/health`, and the OpenAPI document. */
export function documentRoutes(endpoints: () => readonly Endpoint[]): Endpoint[] {
  let document: unknown
  return [
    route({
      id: 'health.get',
      method: 'GET',
      path: '/api/health',
      summary: 'Say that the server is up',
      who: [anyone],
      answers: {
        200: v.strictObject({ status: v.literal('ok'), version: v.string(), mode: v.string(), instance: v.string() }),
      },
      run: ({ config: { version, mode, instance } }) => ({ status: 'ok', version, mode, instance }),
    }),
    route({
      id: 'openapi.get',
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'Get the OpenAPI 3.1 document of this API',
      who: [anyone],
      answers: { 200: v.record(v.string(), v.unknown()) },
      run: () => {
        document ??= openapiDocument(endpoints())
        return document
      },
    }),
  ]
}
