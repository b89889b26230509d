import type { Endpoint } from './route.ts'

/** The errors that operations list, by status: the name of the response in the document, and when it is sent. */
export const ERROR_RESPONSES = {
  400: { name: 'BadRequest', description: 'The request is malformed. `details.fields` names each field at fault.' },
  401: { name: 'Unauthenticated', description: 'The credential is missing, unknown, revoked or expired.' },
  403: { name: 'Forbidden', description: 'The caller may not do this, or the company is not its own.' },
  404: { name: 'NotFound', description: 'There is no such record, or not for this caller.' },
  409: { name: 'Conflict', description: 'The record is not as expected: somebody else has it, or changed it.' },
  413: { name: 'BodyTooLarge', description: 'The body is larger than the limit.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not of the media type that this operation takes.' },
  422: { name: 'Unprocessable', description: 'The request is well-formed, but not possible as things stand.' },
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
