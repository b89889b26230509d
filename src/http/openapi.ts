import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { packageVersion } from '../platform/config.ts'
import { ERROR_STATUS } from '../platform/errors.ts'
import { ERROR_RESPONSES } from './error-responses.ts'
import { type Access, ERROR_CONTENT, type Operation, operationOf } from './operation.ts'
import type { Endpoint } from './route.ts'
import { collectSchemas } from './schemas.ts'
import { TAGS } from './tags.ts'

/** The schema of every error response. */
export const ErrorAnswer = v.strictObject({
  error: v.pipe(v.string(), v.description('A message for people: the problem and its remedy.')),
  code: v.pipe(
    v.picklist(Object.keys(ERROR_STATUS) as (keyof typeof ERROR_STATUS)[]),
    v.description('The error code, for programs.'),
  ),
  details: v.pipe(v.optional(v.unknown()), v.description('Further data. Its fields depend on the code.')),
  requestId: v.pipe(v.string(), v.description('The id of the request, which the log of the server contains too.')),
})

/**
 * Returns the OpenAPI 3.1 document of the endpoints.
 *
 * @param names the schemas that have a name in it
 * @param sessionCookie the name of the cookie that authenticates a browser
 */
export function openapiDocument(
  endpoints: readonly Endpoint[],
  names: Readonly<Record<string, v.GenericSchema>>,
  access: Access,
  sessionCookie: string,
) {
  const paths: Record<string, Record<string, Operation>> = {}
  const schemas = collectSchemas(endpoints, names)
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][endpoint.method.toLowerCase()] = operationOf(endpoint, schemas, access)
  }
  const tags = [...new Set(endpoints.map(({ id }) => id.split('.')[0]!))].sort()
  return {
    openapi: '3.1.0',
    info: {
      title: 'service',
      version: packageVersion(),
      description: 'The control plane that organizations of AI agents run on.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this server' },
    },
    servers: [{ url: '/', description: 'The server that returned this document.' }],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "An agent's key, a run's token or a person's token." },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The cookie of a browser.' },
      },
      schemas: { ...schemas.components, Error: errorSchema() },
      headers: HEADERS,
      responses: {
        Error: errorResponse('An error, by its status and `code`.'),
        ...Object.fromEntries(
          Object.values(ERROR_RESPONSES).map(({ name, description }) => [name, errorResponse(description)]),
        ),
      },
    },
  }
}

function errorSchema() {
  const { $schema: _, additionalProperties: __, ...schema } = toJsonSchema(ErrorAnswer, { errorMode: 'ignore' })
  return schema
}

const errorResponse = (description: string) => ({
  description,
  headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
  content: ERROR_CONTENT,
})

const text = (description: string) => ({ description, schema: { type: 'string' } })
const number = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The response headers, by the names that the operations refer to. */
export const HEADERS = {
  ETag: text('Identifies the content of the response. Send it back as `If-None-Match`.'),
  Link: text('The next page, if there is one: `<path>; rel="next"`.'),
  'Retry-After': number('The number of seconds to wait before a retry.'),
  'X-Request-Id': text('The id of the request, which the log of the server contains too.'),
  'X-Total-Count': number('The number of entries on all pages, with `count=true`.'),
}
