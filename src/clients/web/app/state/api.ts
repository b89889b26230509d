import type { EndpointName, WireOf } from '../../../../api.ts'
import { AppError } from '../../../../platform/errors.ts'
import { createClient } from '../../../client/client.ts'
import { UnexpectedResponse } from '../../../client/error.ts'
import type { OptionsOf } from '../../../client/types.ts'
import { takeResponse } from './boot-record.ts'
import { noteDisk } from './disk.ts'

/** The response body of an endpoint. */
export type Received<Name extends EndpointName> = WireOf<Name>['response']
/** The input of an endpoint: `{ params, query, body }`. */
export type Sent<Name extends EndpointName> = OptionsOf<Name>

/** A request that failed. `message` is for people. `status` is 0 if the server did not respond. */
export type ApiError = AppError | UnexpectedResponse

const client = createClient({
  url: location.origin,
  fetch: async (url, init) => {
    const known = init.method === 'GET' ? takeResponse(url.slice(location.origin.length)) : undefined
    if (known) {
      const headers = { get: (name: string) => known.headers[name] ?? null }
      return { status: 200, headers, text: async () => known.text }
    }
    const response = await fetch(url, init).catch((error) => {
      if (init.signal?.aborted) throw error
      throw new UnexpectedResponse(0, 'offline', 'The server does not respond. The change was not saved. Try again.')
    })
    noteDisk(init.method, response.status)
    if (response.status === 401) await leave(response.clone())
    return response
  },
})

/** Calls an endpoint by its key in the endpoint table: `request('GET /api/issues/:issueId', { params })`. */
export const request = client.request
/**
 * Calls an endpoint that returns a list. The result has the items, the cursor of the next
 * page and the total, if counted.
 */
export const requestPage = client.page

/** Converts a thrown value to an error that can be displayed. */
export const toApiError = (thrown: unknown): ApiError =>
  thrown instanceof AppError || thrown instanceof UnexpectedResponse
    ? thrown
    : new UnexpectedResponse(
        0,
        'page',
        `An error occurred in this page: ${thrown instanceof Error ? thrown.message : thrown}`,
      )

/** Redirects a person who is not signed in to the sign-in page. Local trusted mode has no sign-in page. */
async function leave(response: Response): Promise<void> {
  const { details } = await response.json().catch(() => ({}))
  if (details?.mode === 'local_trusted') return
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
}
