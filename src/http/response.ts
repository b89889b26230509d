import { hash, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Context } from '../platform/context.ts'
import { toAppError } from '../platform/database/write-queue.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { type HttpRequest, type HttpResponse, queryOf } from './handler.ts'
import { Page, takes } from './list.ts'
import type { Rendered } from './response-cache.ts'
import { type Endpoint, JsonText, type Reply } from './route.ts'

/** Converts a reply to a response: JSON with its headers, or the body that the route created itself. */
export function toResponse(ctx: Context, endpoint: Endpoint, request: HttpRequest, reply: Reply): HttpResponse {
  const { status, body } = reply
  const declared = endpoint.responses[status]
  const isJson = !(body instanceof ReadableStream || body instanceof Uint8Array || typeof declared === 'string')
  if (isJson && declared !== null) return toRenderedResponse(request, renderJson(ctx, endpoint, request, reply))
  if (ctx.config.selfCheck) assertDeclaredResponse(endpoint, reply)
  return { status, headers: { 'x-request-id': randomUUID(), ...reply.headers }, body: body as HttpResponse['body'] }
}

/** Renders a reply with a JSON body. */
export function renderJson(ctx: Context, endpoint: Endpoint, request: HttpRequest, reply: Reply): Rendered {
  if (ctx.config.selfCheck) assertDeclaredResponse(endpoint, reply)
  const { status, body } = reply
  const text = body instanceof JsonText ? body.text : JSON.stringify(body instanceof Page ? body.items : body)
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8', ...reply.headers }
  if (body instanceof Page) {
    if (body.next !== undefined) headers.link = `<${nextUrl(request, body.next)}>; rel="next"`
    if (body.total !== undefined) headers['x-total-count'] = String(body.total)
  } else if (endpoint.method === 'GET') {
    headers.etag = `"${hash('sha1', text, 'base64url')}"`
    headers['cache-control'] = 'private, no-cache'
  }
  const isSmall = typeof text === 'string' && text.length < LARGE
  return { status, headers, body: isSmall ? text : Buffer.from(text) }
}

/** Returns a rendered reply as a response, or a 304 if the client has it. */
export function toRenderedResponse(request: HttpRequest, { status, headers, body }: Rendered): HttpResponse {
  const all = { ...headers, 'x-request-id': randomUUID() }
  const { etag } = headers
  const isKnown = etag !== undefined && matchesETag(request.header('if-none-match'), etag)
  return isKnown ? { status: 304, headers: all, body: null } : { status, headers: all, body }
}

/** The length in characters from which a text is encoded first. Node encodes a long text more slowly at the socket. */
const LARGE = 16_384

/** Whether an `If-None-Match` header matches an `ETag`. The header is `*` or a list of tags, which may be weak. */
const matchesETag = (header: string | undefined, etag: string) =>
  header !== undefined && (header.trim() === '*' || header.includes(etag))

function nextUrl(request: HttpRequest, cursor: string): string {
  const query = new URLSearchParams(queryOf(request))
  query.set('after', cursor)
  return `${request.path}?${query}`
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
export const toErrorResponse = (ctx: Pick<Context, 'log'>, request: HttpRequest, thrown: unknown): HttpResponse =>
  failureResponse(ctx.log, `${request.method} ${request.path}`, thrown)

/**
 * Converts an error to a response. An AppError is sent to the client. Any other
 * error is a bug: it is logged in full, and the client receives "Internal
 * error.". A database fault is both: logged in full, and sent.
 */
export function failureResponse(log: Log, what: string, thrown: unknown): HttpResponse {
  const error = toAppError(thrown)
  const isExpected = error instanceof AppError
  const response = errorResponse(isExpected ? error : new AppError('internal', 'Internal error.'))
  if (!isExpected || error.code === 'database_damaged') {
    const cause = (isExpected && error.cause) || error
    const stack = String((cause as Error | null)?.stack ?? cause)
    log.error(`${what} failed.`, { requestId: response.headers['x-request-id'], stack })
  }
  return response
}

/** Returns the response to a request that failed. All errors have this shape. */
export function errorResponse(error: AppError): HttpResponse & { body: string } {
  const { code, message, status, details } = error
  const requestId = randomUUID()
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId, ...headersOf(error) }
  const body = { error: message, code, ...(details === undefined ? {} : { details }), requestId }
  return { status, headers, body: JSON.stringify(body) }
}

/** Returns the response headers that an error requires, regardless of its body. */
export function headersOf({ code, status, details }: AppError): Record<string, string> {
  if (code === 'method_not_allowed') return { allow: (details as { allowed: string[] }).allowed.join(', ') }
  if (code === 'rate_limited') return { 'retry-after': String((details as { retryAfterSec: number }).retryAfterSec) }
  return status === 401 ? { 'www-authenticate': 'Bearer' } : {}
}
