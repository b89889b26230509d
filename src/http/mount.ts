import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Hono, Context as HonoContext } from 'hono'
import * as v from 'valibot'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import type { RequestAccess } from './access.ts'
import { parseBody, readBody, readForm } from './body.ts'
import { BODY_JOB_LIMITS, SMALL_BODY } from './body-job.ts'
import { errorPage } from './html-page.ts'
import { withIdempotency } from './idempotency.ts'
import { addressOf } from './proxy.ts'
import { beginRequestSpan, type RequestSpan } from './request-span.ts'
import { renderJson, sendRendered, toErrorResponse, toResponse } from './response.ts'
import { createResponseCache, type ResponseCache } from './response-cache.ts'
import { type Endpoint, type Input, JsonText, Reply } from './route.ts'
import { readUpload, Upload } from './upload.ts'
import { validate } from './validate.ts'
import { validateQuery } from './validate-query.ts'

/** Mounts each endpoint as a route of the app, with authentication, validation and the common error shape. */
export function mount<Principal, Caller>(
  app: Hono,
  ctx: Context,
  endpoints: readonly Endpoint[],
  access: RequestAccess<Principal, Caller>,
): void {
  const server = { ctx, access, cache: createResponseCache(ctx) }
  for (const definition of endpoints) {
    const endpoint = {
      ...definition,
      usualStatus: usualStatusOf(definition),
      textParam: TEXT_FILE.exec(definition.path)?.[1],
    }
    app.on(endpoint.method, endpoint.path.replace(TEXT_FILE, ':$1{[^/]+\\.txt}'), async (c) => {
      const begun = performance.now()
      const span = ctx.tracer && beginRequestSpan(ctx.tracer, endpoint, c)
      const response = await (endpoint.form ? handleForm : handle)(server, endpoint, c, span).catch((error) =>
        toErrorResponse(ctx, error, c),
      )
      const ms = performance.now() - begun
      observe(ctx, endpoint, response, ms)
      span?.end(response, ms)
      return response
    })
  }
  app.onError((error, c) => toErrorResponse(ctx, error, c))
  const noSuchRoute = refuseUnknown(endpoints)
  app.notFound((c) => toErrorResponse(ctx, noSuchRoute(c), c))
}

/**
 * Counts a request, and logs it at the level debug. The log contains the path
 * of the endpoint, since the path of the request may contain a token.
 */
function observe(ctx: Context, { id, method, path }: Endpoint, response: Response, ms: number): void {
  const { status } = response
  ctx.metrics.countRequest(id, status, ms / 1_000)
  if (!ctx.log.isEnabled('debug')) return
  // Reading the headers costs the fast path of the listener, so only here.
  const requestId = response.headers.get('x-request-id')
  ctx.log.debug(`${method} ${path} ${status}`, { requestId, route: id, status, ms: Math.round(ms * 100) / 100 })
}

/** A path such as `/:name.txt`: the parameter is the part before `.txt`. */
const TEXT_FILE = /:(\w+)\.txt$/

/** An endpoint with the values that each request needs. */
interface MountedEndpoint extends Endpoint {
  usualStatus: number
  /** The parameter of a path such as `/:name.txt`. */
  textParam: string | undefined
}

/** The dependencies of every endpoint handler. */
interface Server<Principal, Caller> {
  ctx: Context
  access: RequestAccess<Principal, Caller>
  cache: ResponseCache
}

/** Handles a form of a page: an error is shown as a page too. */
async function handleForm<Principal, Caller>(
  server: Server<Principal, Caller>,
  endpoint: MountedEndpoint,
  c: HonoContext,
  span: RequestSpan | undefined,
): Promise<Response> {
  try {
    return await handle(server, endpoint, c, span)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return toResponse(server.ctx, endpoint, c, errorPage(error))
  }
}

async function handle<Principal, Caller>(
  { ctx, access, cache }: Server<Principal, Caller>,
  endpoint: MountedEndpoint,
  c: HonoContext,
  span: RequestSpan | undefined,
): Promise<Response> {
  const credentials = { authorization: c.req.header('authorization'), cookie: c.req.header('cookie') }
  const params = paramsOf(endpoint, c)
  const address = addressOf(ctx.config, c)
  access.limitNetwork(endpoint, address)
  let principal = await access.authenticate(credentials, endpoint)
  const authenticatedAt = performance.now()
  span?.setRun(access.spanOfRun(principal))
  const received = await receiveBody(ctx, endpoint, c)
  // While the body arrived, the run of the token may have ended, or the person may have signed out.
  if (performance.now() - authenticatedAt > REAUTHENTICATE_MS)
    principal = await access.authenticate(credentials, endpoint)
  let caller = access.authorize(principal, endpoint, params.companyId)
  const queryOf = () => (endpoint.query ? validateQuery(endpoint.query, c.req.query()) : undefined)
  const run = (ctx: Context, query: unknown, body: unknown) => {
    const input: Input<Caller> = {
      caller,
      params,
      query,
      body,
      header: (name) => c.req.header(name),
      address,
      drop: () => (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing?.destroy(),
      async isStillAuthorized() {
        try {
          access.authorize(await access.authenticate(credentials, endpoint), endpoint, params.companyId)
          return true
        } catch {
          return false
        }
      },
    }
    return endpoint.run(ctx as never, input as never)
  }
  const toReply = (result: unknown) => (result instanceof Reply ? result : new Reply(endpoint.usualStatus, result))
  if (endpoint.isCached) {
    const render = async () => renderJson(ctx, endpoint, c, toReply(await run(ctx, queryOf(), undefined)))
    return sendRendered(c, await cache.get(`${access.callerKey(caller)} ${c.req.url}`, render))
  }

  const query = queryOf()
  const parsed = received.parse()
  const body = parsed instanceof Promise ? await parsed : parsed
  // While a thread parsed the body, the caller may have lost the credential or the permission.
  if (parsed instanceof Promise) {
    principal = await access.authenticate(credentials, endpoint)
    caller = access.authorize(principal, endpoint, params.companyId)
  }
  const key = endpoint.method === 'POST' ? c.req.header('idempotency-key') : undefined
  const owner = key === undefined ? undefined : access.callerKey(caller)
  if (key === undefined || owner === undefined)
    return toResponse(ctx, endpoint, c, toReply(await run(ctx, query, body)))
  const request = [c.req.path, new URL(c.req.url).search, received.digest()]
  // The use case checks the permission for an entity, but a replay does not run it.
  const authorizeReplay = ({ body }: Reply) =>
    void access.authorize(principal, endpoint, params.companyId ?? companyOf(body))
  const once = { owner, key, request, secret: endpoint.secret, authorizeReplay }
  return toResponse(ctx, endpoint, c, await withIdempotency(ctx, once, (own) => run(own, query, body), toReply))
}

/** A body that takes longer to arrive, in milliseconds, causes another authentication. */
const REAUTHENTICATE_MS = 100

/** Returns the company of an entity in a response. */
const companyOf = (body: unknown): string | undefined => {
  const { companyId } = Object(body instanceof JsonText ? body.toJSON() : body) as { companyId?: unknown }
  return typeof companyId === 'string' ? companyId : undefined
}

function paramsOf({ textParam: file }: MountedEndpoint, c: HonoContext): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  return file ? { ...params, [file]: params[file]!.slice(0, -'.txt'.length) } : params
}

/** The body schema of a route without a body: no body, or an empty object. */
const NoFields = v.strictObject({})

/** A body that has arrived. It is parsed and validated after the caller is authorized. */
interface ReceivedBody {
  /** Returns what identifies the body for an `Idempotency-Key`. Call it after `parse`. */
  digest(): string
  /**
   * Parses and validates the body; in a thread if it is large.
   *
   * @throws AppError 400 if the body does not match the endpoint's schema
   */
  parse(): unknown
}

async function receiveBody(ctx: Context, endpoint: Endpoint, c: HonoContext): Promise<ReceivedBody> {
  const { method, body: schema, bodyOptional, upload, form } = endpoint
  if (method === 'GET') return { digest: () => '', parse: () => undefined }
  const maxSize = endpoint.bodyLimit ?? ctx.config.bodyLimit
  if (upload) {
    const { form: fields, digest } = await readUpload(c, maxSize)
    return { digest: () => digest, parse: () => validate(schema ?? Upload, fields) }
  }
  if (form) {
    const fields = await readForm(c, maxSize)
    return { digest: () => '', parse: () => validate(schema ?? NoFields, fields) }
  }
  const bytes = await readBody(c, maxSize)
  const { bodyJob } = endpoint
  if (bodyJob && bytes.byteLength > SMALL_BODY) {
    let digest = ''
    return {
      digest: () => digest,
      async parse() {
        const options = { ...BODY_JOB_LIMITS, transfer: [bytes.buffer] }
        const parsed = await ctx.reader.runApart(bodyJob, bytes, options)
        digest = parsed.digest
        return parsed.body
      },
    }
  }
  const isEmpty = bytes.byteLength === 0
  return {
    digest: () => hash('sha256', bytes),
    parse() {
      if (isEmpty && !schema) return undefined
      return validate(schema ?? NoFields, isEmpty && bodyOptional ? {} : parseBody(bytes, endpoint.bodyFields))
    },
  }
}

/** The status of a response without an explicit one: the first 2xx that the endpoint declares. */
const usualStatusOf = ({ responses }: Endpoint) =>
  Number(Object.keys(responses).find((code) => code.startsWith('2')) ?? 200)

/**
 * Returns the handler of requests that match no route: 404 for an unknown path,
 * 405 for an unknown method of a known path.
 */
function refuseUnknown(endpoints: readonly Endpoint[]): (c: HonoContext) => AppError {
  const patterns = endpoints.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
  }))
  return (c) => {
    const allowed = patterns.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method)
    if (allowed.length === 0) {
      return new AppError(
        'not_found',
        `There is no endpoint ${c.req.path.slice(0, 200)}. GET /api/docs lists the endpoints.`,
      )
    }
    return new AppError(
      'method_not_allowed',
      `The path ${c.req.path} does not support ${c.req.method}. It supports ${allowed.join(', ')}.`,
      {
        allowed,
      },
    )
  }
}
