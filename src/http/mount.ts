import { hash, randomUUID } from 'node:crypto'
import type { Hono, Context as HonoContext } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as v from 'valibot'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import { AppError, forbidden, notFound } from '../errors.ts'
import { type Caller, callerOf, isOfCompany } from './caller.ts'
import { withIdempotency } from './idempotency.ts'
import { Page } from './list.ts'
import { type Endpoint, type Input, Reply } from './route.ts'
import { validate } from './validate.ts'

/** Makes each endpoint a route of the app: who may call, validation, the answer's form and one error shape. */
export function mount(app: Hono, ctx: Context, endpoints: readonly Endpoint[]): void {
  for (const endpoint of endpoints) {
    app.on(endpoint.method, endpoint.path, (c) => handle(ctx, endpoint, c))
  }
  app.onError((error, c) => answerError(ctx, error, c))
  app.notFound((c) => answerError(ctx, noSuchRoute(endpoints, c), c))
}

async function handle(ctx: Context, endpoint: Endpoint, c: HonoContext): Promise<Response> {
  const caller = await callerOf(ctx, c.req.header('authorization'))
  const params = c.req.param() as Record<string, string>
  admit(ctx, endpoint, caller, params.companyId)
  const query = endpoint.query ? validate(endpoint.query, c.req.query()) : undefined
  const text = endpoint.method === 'GET' || endpoint.method === 'DELETE' ? '' : await readBody(ctx, endpoint, c)
  const body = endpoint.body ? validate(endpoint.body, parseBody(endpoint, text)) : undefined
  const input: Input = { caller, params, query, body, header: (name) => c.req.header(name) }

  const key = endpoint.method === 'POST' ? c.req.header('idempotency-key') : undefined
  const run = (ctx: Context) => endpoint.run(ctx, input as never)
  const toReply = (result: unknown) => settle(endpoint, result)
  const result =
    key === undefined
      ? toReply(await run(ctx))
      : await withIdempotency(ctx, caller, key, [c.req.path, text], run, toReply)
  return answer(ctx, endpoint, c, result)
}

/** Refuses a caller whom the route does not admit, or who is of another company than the path names. */
function admit(ctx: Context, endpoint: Endpoint, caller: Caller, companyId: string | undefined): void {
  if (companyId !== undefined) {
    if (!isOfCompany(caller, companyId)) {
      throw new AppError('wrong_company', 'You do not belong to this company.')
    }
    if (!findCompany(ctx.db, { id: companyId })) throw notFound('company', companyId)
  }
  if (!endpoint.who.some((who) => who.allows(ctx, caller))) {
    throw forbidden(`Only ${endpoint.who.map((who) => who.name).join(' and ')} may do this.`)
  }
}

/** Reads the body as text, within its limit, chunked or not. */
async function readBody(ctx: Context, endpoint: Endpoint, c: HonoContext): Promise<string> {
  const type = c.req.header('content-type')
  const length = c.req.header('content-length')
  const chunked = c.req.header('transfer-encoding') !== undefined
  if (type === undefined && !chunked && (length === undefined || length === '0')) return ''
  if (!/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON, with `Content-Type: application/json`.')
  }
  const maxSize = endpoint.bodyLimit ?? ctx.config.bodyLimit
  const tooLarge = () => new AppError('body_too_large', `The body is larger than ${maxSize} bytes.`)
  if (length !== undefined && !chunked) {
    // Node's parser holds a body to its Content-Length, so this is enough, and it spares a copy.
    if (Number(length) > maxSize) throw tooLarge()
  } else {
    const limit = bodyLimit({
      maxSize,
      onError: () => {
        throw tooLarge()
      },
    })
    await limit(c, async () => {})
  }
  return c.req.text()
}

function parseBody(endpoint: Endpoint, text: string): unknown {
  if (text === '' && endpoint.bodyOptional) return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = text === '' ? 'The body is empty' : `The body is not JSON (${(error as Error).message})`
    throw new AppError('malformed_json', `${where}. Send a JSON object.`)
  }
}

/** Turns what a use case returned into an answer: text, status and headers. */
function settle(endpoint: Endpoint, result: unknown): Reply {
  if (result instanceof Reply) return result
  const status = Number(Object.keys(endpoint.answers).find((code) => code.startsWith('2')) ?? 200)
  return new Reply(status, result)
}

function answer(ctx: Context, endpoint: Endpoint, c: HonoContext, { status, body, headers }: Reply): Response {
  if (body instanceof ReadableStream || body instanceof Uint8Array || endpoint.answers[status] === null) {
    return new Response(body as ReadableStream | Uint8Array<ArrayBuffer> | null, { status, headers })
  }
  const shown = body instanceof Page ? body.items : body
  if (ctx.config.checkAnswers) checkAnswer(endpoint, status, shown)
  const text = JSON.stringify(shown)
  const all: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': randomUUID(),
    ...headers,
  }
  if (body instanceof Page) {
    if (body.next !== undefined) all.link = `<${nextUrl(c, body.next)}>; rel="next"`
    if (body.total !== undefined) all['x-total-count'] = String(body.total)
  } else if (endpoint.method === 'GET') {
    const etag = `"${hash('sha1', text, 'base64url')}"`
    all.etag = etag
    all['cache-control'] = 'no-cache'
    if (c.req.header('if-none-match')?.includes(etag)) return new Response(null, { status: 304, headers: all })
  }
  return new Response(text, { status, headers: all })
}

function nextUrl(c: HonoContext, cursor: string): string {
  const query = new URLSearchParams(c.req.query())
  query.set('after', cursor)
  return `${c.req.path}?${query}`
}

/** In tests: an answer that its schema does not declare is a bug. */
function checkAnswer(endpoint: Endpoint, status: number, body: unknown): void {
  const schema = endpoint.answers[status]
  if (!schema) throw new Error(`${endpoint.id} answered ${status}, which it does not declare.`)
  const result = v.safeParse(schema, JSON.parse(JSON.stringify(body)))
  if (!result.success) {
    const faults = result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ')
    throw new Error(`${endpoint.id} answered what its schema does not allow: ${faults}`)
  }
}

function answerError(ctx: Context, error: Error, c: HonoContext): Response {
  const requestId = randomUUID()
  const known = error instanceof AppError ? error : undefined
  if (!known) {
    ctx.log.error(`${c.req.method} ${c.req.path} failed.`, { requestId, stack: String(error.stack ?? error) })
  }
  const { code, message, status, details } = known ?? new AppError('internal', 'Internal error.')
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
  }
  if (code === 'method_not_allowed') headers.allow = (details as { allowed: string[] }).allowed.join(', ')
  if (code === 'unauthenticated') headers['www-authenticate'] = 'Bearer'
  const body = { error: message, code, ...(details === undefined ? {} : { details }), requestId }
  return new Response(JSON.stringify(body), { status, headers })
}

function noSuchRoute(endpoints: readonly Endpoint[], c: HonoContext): AppError {
  const matches = (path: string) =>
    new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(c.req.path)
  const allowed = endpoints.filter((endpoint) => matches(endpoint.path)).map((endpoint) => endpoint.method)
  if (allowed.length === 0) {
    return new AppError('not_found', `There is no ${c.req.path} here. GET /api/docs lists what there is.`)
  }
  return new AppError('method_not_allowed', `${c.req.path} takes ${allowed.join(', ')}, not ${c.req.method}.`, {
    allowed,
  })
}
