import { createHmac } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import { findPublicAddress, type Lookup } from '../../platform/source/address.ts'

/** The time limit of an attempt, in milliseconds. */
const TIMEOUT_MS = 15_000

/** An attempt to deliver an event. */
export interface Attempt {
  /** The id of the delivery. */
  id: string
  url: string
  /** `whsec_` and the key in base64. */
  secret: string
  /** ISO 8601. */
  at: string
  body: string
}

/** The result of an attempt. Only a 2xx response is a success. */
export interface AttemptResult {
  ok: boolean
  status: number | null
  error: string | null
}

/**
 * Returns the headers of the Standard Webhooks specification. The signature
 * covers the id, the time and the body, so that an old request cannot be sent
 * again as a new one.
 */
export function signatureHeaders({ id, at, secret, body }: Omit<Attempt, 'url'>): Record<string, string> {
  const timestamp = String(Math.floor(Date.parse(at) / 1_000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/**
 * Sends a delivery once. It connects to the address that was checked, so that
 * the host cannot change its address in between (DNS rebinding), and follows no
 * redirect.
 *
 * @param options.privateHosts the hosts that may have private addresses
 */
export async function sendAttempt(
  attempt: Attempt,
  options: { lookup: Lookup; privateHosts: readonly string[]; version: string; signal: AbortSignal },
): Promise<AttemptResult> {
  const url = new URL(attempt.url)
  let address: string | undefined
  if (!options.privateHosts.includes(url.host)) {
    const found = await findPublicAddress(url, options.lookup)
    if ('fault' in found) return failure(`Not sent: ${found.fault}.`)
    address = found.address
  }
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(attempt.body),
      'user-agent': `service/${options.version}`,
      ...signatureHeaders(attempt),
    },
    ...(address !== undefined && { lookup: pinTo(address) }),
  })
  request.on('response', (response) => {
    const status = response.statusCode!
    // Nobody reads the body. A receiver may send it without end.
    response.destroy()
    if (status >= 200 && status < 300) resolve({ ok: true, status, error: null })
    else resolve(failure(`The URL responded with ${status}.`, status))
  })
  request.on('error', (error: NodeJS.ErrnoException) => resolve(failure(describe(error))))
  // The receiver switched the protocol or closed the connection. Neither is an error of the request.
  request.on('close', () => resolve(failure('The URL closed the connection without a response.')))
  request.end(attempt.body)
  return promise
}

const failure = (error: string, status: number | null = null): AttemptResult => ({ ok: false, status, error })

/** A lookup that returns one address for every name. */
const pinTo =
  (address: string): LookupFunction =>
  (_host, { all }, done) => {
    const family = isIPv6(address) ? 6 : 4
    if (all) done(null, [{ address, family }])
    else done(null, address, family)
  }

const describe = ({ name, code, message }: NodeJS.ErrnoException): string =>
  name === 'TimeoutError' || code === 'ABORT_ERR' || name === 'AbortError'
    ? `The URL did not respond within ${TIMEOUT_MS / 1_000} s.`
    : `The URL cannot be reached: ${code ?? message}.`
