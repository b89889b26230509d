import type { Endpoint } from './route.ts'

/** The errors that operations list, by status: the name of the response in the document, and when it is sent. */
export const ERROR_RESPONSES = {
  400: { name: 'BadRequest', description: 'The request is malformed. `details.fields` names each invalid field.' },
  401: { name: 'Unauthenticated', description: 'The credential is missing, unknown, revoked or expired.' },
  403: { name: 'Forbidden', description: 'The caller lacks the permission, or the record belongs to another company.' },
  404: { name: 'NotFound', description: 'The record does not exist, or the caller may not access it.' },
  409: {
    name: 'Conflict',
    description: 'The record has another state than expected: another caller owns or changed it.',
  },
  413: { name: 'BodyTooLarge', description: 'The body is larger than the limit.' },
  415: { name: 'UnsupportedMediaType', description: 'The operation does not accept the media type of the body.' },
  422: { name: 'Unprocessable', description: 'The request is well-formed, but not possible in the current state.' },
} as const

type ErrorStatus = keyof typeof ERROR_RESPONSES

/** Returns the errors of an endpoint, each as a reference to a response of the document. */
export const errorsOf = (endpoint: Endpoint): Record<string, { $ref: string }> =>
  Object.fromEntries(
    statusesOf(endpoint).map((status) => [status, { $ref: `#/components/responses/${ERROR_RESPONSES[status].name}` }]),
  )

function statusesOf({ method, path, who, query }: Endpoint): ErrorStatus[] {
  const changes = method !== 'GET'
  const isForAnybody = who.every(({ by }) => by.length === 1 && by[0] === 'nothing')
  const isPossible: Record<ErrorStatus, boolean> = {
    400: changes || query !== undefined,
    401: !isForAnybody,
    // The gate refuses a foreign Host or Origin everywhere.
    403: true,
    404: path.includes(':'),
    409: changes,
    413: changes,
    415: changes,
    422: changes,
  }
  return (Object.keys(isPossible).map(Number) as ErrorStatus[]).filter((status) => isPossible[status])
}
