import { hash, randomUUID } from 'node:crypto'
import type { Context as HonoContext } from 'hono'
import * as v from 'valibot'
import type { Context } from '../platform/context.ts'
import { toAppError } from '../platform/database/write-queue.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { Page, takes } from './list.ts'
import type { Rendered } from './response-cache.ts'
import { type Endpoint, JsonText, type Reply } from './route.ts'

/** Converts a reply to a response: JSON with its headers, or the body that the route created itself. */
export function toResponse(ctx: Context, endpoint: Endpoint, c: HonoContext, reply: Reply): Response {
  const { status, body } = reply
  const declared = endpoint.responses[status]
  const isJson = !(body instanceof ReadableStream || body instanceof Uint8Array || typeof declared === 'string')
  if (isJson && declared !== null) return sendRendered(c, renderJson(ctx, endpoint, c, reply))
  if (ctx.config.selfCheck) assertDeclaredResponse(endpoint, reply)
  const headers = { 'x-request-id': randomUUID(), ...reply.headers }
  if (body instanceof ReadableStream && c.req.method === 'HEAD') {
    void body.cancel()
    return new Response(null, { status, headers })
  }
  return new Response(body as ReadableStream | Uint8Array<ArrayBuffer> | string | null, { status, headers })
}

/** Renders a reply with a JSON body. */
export function renderJson(ctx: Context, endpoint: Endpoint, c: HonoContext, reply: Reply): Rendered {
  if (ctx.config.selfCheck) assertDeclaredResponse(endpoint, reply)
  const { status, body } = reply
  const text = body instanceof JsonText ? body.text : JSON.stringify(body instanceof Page ? body.items : body)
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8', ...reply.headers }
  if (body instanceof Page) {
    if (body.next !== undefined) headers.link = `<${nextUrl(c, body.next)}>; rel="next"`
    if (body.total !== undefined) headers['x-total-count'] = String(body.total)
  } else if (endpoint.method === 'GET') {
    headers.etag = `"${hash('sha1', text, 'base64url')}"`
    headers['cache-control'] = 'private, no-cache'
  }
  const isSmall = typeof text === 'string' && text.length < LARGE
  return { status, headers, body: isSmall ? text : Buffer.from(text) }
}

/** Sends a rendered reply, or a 304 if the client has it. */
export function sendRendered(c: HonoContext, rendered: Rendered): Response {
  const headers = { ...rendered.headers, 'x-request-id': randomUUID() }
  const { etag } = rendered.headers
  if (etag !== undefined && matchesETag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(rendered.body as string, { status: rendered.status, headers })
}

/** The length in characters from which a text is encoded first. Node encodes a long text more slowly at the socket. */
const LARGE = 16_384

/** Whether an `If-None-Match` header matches an `ETag`. The header is `*` or a list of tags, which may be weak. */
const matchesETag = (header: string | undefined, etag: string) =>
  header !== undefined && (header.trim() === '*' || header.includes(etag))

function nextUrl(c: HonoContext, cursor: string): string {
  const query = new URLSearchParams(c.req.query())
  query.set('after', cursor)
  return `${c.req.path}?${query}`
}

/** In tests, throws if an endpoint sends a response that it does not declare. */
function assertDeclaredResponse(endpoint: Endpoint, { status, body, headers }: Reply): void {
  const { id, responses } = endpoint
  if (endpoint.streams && body instanceof ReadableStream) return
  const declared = responses[status]
  if (body instanceof Page !== takes(endpoint, 'after'))
    throw new Error(`${id} accepts \`after\` without returning a page, or returns a page without accepting \`after\`.`)
  // The pages without scripts may show an error as a page.
  if (!declared && body instanceof Uint8Array && status >= 400) return
  if (declared === null || typeof declared === 'string') {
    const type = headers['content-type'] ?? ''
    if (declared && declared !== '*/*' && !type.startsWith(declared)) throw new Error(`${id} returned ${type}.`)
    return
  }
  if (!declared) throw new Error(`${id} returned ${status}, which it does not declare.`)
  const result = v.safeParse(declared, JSON.parse(JSON.stringify(body instanceof Page ? body.items : body)))
  if (!result.success) {
    const faults = result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ')
    throw new Error(`${id} returned a body that its schema does not allow: ${faults}`)
  }
}

/** Converts an error that the handling of a request threw to a response, and logs it if it is no AppError. */
export const toErrorResponse = (ctx: Pick<Context, 'log'>, thrown: Error, c: HonoContext): Response =>
  failureResponse(ctx.log, `${c.req.method} ${c.req.path}`, thrown)

/**
 * Converts an error to a response. An AppError is sent to the client. Any other
 * error is a bug: it is logged in full, and the client receives "Internal
 * error.". A database fault is both: logged in full, and sent.
 */
export function failureResponse(log: Log, what: string, thrown: unknown): Response {
  const error = toAppError(thrown)
  const isExpected = error instanceof AppError
  const [text, init] = errorResponse(isExpected ? error : new AppError('internal', 'Internal error.'))
  if (!isExpected || error.code === 'database_damaged') {
    const cause = (isExpected && error.cause) || error
    const stack = String((cause as Error | null)?.stack ?? cause)
    log.error(`${what} failed.`, { requestId: init.headers['x-request-id'], stack })
  }
  return new Response(text, init)
}

/** Returns the body, status and headers of an error response. All errors have this shape. */
export function errorResponse(error: AppError) {
  const { code, message, status, details } = error
  const requestId = randomUUID()
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    ...headersOf(error),
  }
  const body = { error: message, code, ...(details === undefined ? {} : { details }), requestId }
  return [JSON.stringify(body), { status, headers }] as const
}

/** Returns the response headers that an error requires, regardless of its body. */
export function headersOf({ code, status, details }: AppError): Record<string, string> {
  if (code === 'method_not_allowed') return { allow: (details as { allowed: string[] }).allowed.join(', ') }
  if (code === 'rate_limited') return { 'retry-after': String((details as { retryAfterSec: number }).retryAfterSec) }
  return status === 401 ? { 'www-authenticate': 'Bearer' } : {}
}
