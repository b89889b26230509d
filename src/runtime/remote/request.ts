import type { RemoteJob } from './wire.ts'

/** An error response of the server. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
  /** Whether another attempt can succeed. */
  get isTransient(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429
  }
}

const TIMEOUT_MS = 30_000

/**
 * Sends a request to the server with the token of the run.
 *
 * @throws Refused for a response other than 2xx, and the error of `fetch` if there is no response
 */
export async function post<Reply>(job: RemoteJob, path: string, body: object): Promise<Reply> {
  const response = await fetch(`${job.url}/api/runs/${job.runId}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${job.token}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text)
  const { code, error } = parseError(text)
  throw new Refused(response.status, code, error)
}

function parseError(text: string): { code: string; error: string } {
  try {
    const { code = '', error = '' } = JSON.parse(text)
    return { code, error }
  } catch {
    return { code: '', error: text.slice(0, 200) } // the response of a proxy, not of the server
  }
}

/** Returns the reason why a request got no response. `fetch` wraps the cause. */
export const causeOf = (error: unknown): string => {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause
  return cause?.message || cause?.code || String((error as Error)?.message ?? error)
}
