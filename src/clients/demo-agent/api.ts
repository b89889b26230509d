import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createClient, type Fetch } from '../client/client.ts'
import { nodeFetch } from '../client/node-http.ts'
import type { ItemOf } from '../client/types.ts'

/** The API of the service, with the credential of this agent. */
export type Api = Client

export type Agent = ItemOf<'GET /api/companies/:companyId/agents'>
export type Issue = ItemOf<'GET /api/companies/:companyId/issues'>
export type Comment = ItemOf<'GET /api/issues/:issueId/comments'>

/** The attempts for a request, and the delay between them in milliseconds. They outlast a restart of the server. */
const ATTEMPTS = 12
const DELAY_MS = 500

export const createApi = (url: string, token: string): Api =>
  createClient({ url, credential: token, fetch: retryingFetch })

/**
 * Retries a request if the server does not respond or responds with 5xx. Each
 * POST has an idempotency key, so a retry has no second effect.
 */
const retryingFetch: Fetch = async (url, { headers, ...init }) => {
  const request = {
    ...init,
    headers: { ...(init.method === 'POST' && { 'idempotency-key': randomUUID() }), ...headers },
  }
  for (let attempt = 1; ; attempt++) {
    const response = await nodeFetch(url, request).catch((error: Error) => error)
    if (!(response instanceof Error) && response.status < 500) return response
    if (attempt === ATTEMPTS) {
      if (response instanceof Error) throw response
      return response
    }
    await wait(DELAY_MS)
  }
}
