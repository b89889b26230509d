import * as v from 'valibot'
import { packageVersion } from '../platform/config.ts'
import { ERROR_STATUS } from '../platform/errors.ts'
import { type Access, ERROR_CONTENT, type Operation, operationOf, type Schemas, schemaOf } from './operation.ts'
import type { Endpoint } from './route.ts'

/** The shape of every error answer. */
export const ErrorAnswer = v.strictObject({
  error: v.pipe(v.string(), v.description('A sentence that says what to do.')),
  code: v.picklist(Object.keys(ERROR_STATUS) as (keyof typeof ERROR_STATUS)[]),
  details: v.optional(v.unknown()),
  requestId: v.string(),
})

/**
 * Returns the OpenAPI 3.1 document of the endpoints.
 *
 * @param sessionCookie the name of the cookie that authenticates a browser
 */
export function openapiDocument(endpoints: readonly Endpoint[], access: Access, sessionCookie: string) {
  const paths: Record<string, Record<string, Operation>> = {}
  const schemas: Schemas = {}
  schemas.Error = schemaOf(ErrorAnswer, 'output', 'Error', schemas)
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][endpoint.method.toLowerCase()] = operationOf(endpoint, schemas, access)
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
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "An agent's key, a run's token or a person's token." },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The cookie of a browser.' },
      },
      schemas,
      headers: HEADERS,
      responses: {
        Error: {
          description: 'An error, by its status and `code`',
          headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
          content: ERROR_CONTENT,
        },
      },
    },
  }
}

const text = (description: string) => ({ description, schema: { type: 'string' } })
const number = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The response headers, by the names that the operations refer to. */
export const HEADERS = {
  ETag: text('Stands for what the answer says; send it back as `If-None-Match`.'),
  Link: text('The next page, if there is one: `<path>; rel="next"`.'),
  'Retry-After': number('In how many seconds to try again.'),
  'X-Request-Id': text('Names the request, also in the log of the server.'),
  'X-Total-Count': number('How many there are on all pages, with `count=true`.'),
}
