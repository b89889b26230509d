import { hash } from 'node:crypto'
import * as v from 'valibot'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import type { RequestAccess } from './access.ts'
import { parseBody, readBody, readForm } from './body.ts'
import { BODY_JOB_LIMITS, SMALL_BODY } from './body-job.ts'
import { type Handler, type HttpRequest, type HttpResponse, queryOf } from './handler.ts'
import { errorPage } from './html-page.ts'
import { withIdempotency } from './idempotency.ts'
import { addressOf } from './proxy.ts'
import { beginRequestSpan, type RequestSpan } from './request-span.ts'
import { renderJson, toErrorResponse, toRenderedResponse, toResponse } from './response.ts'
import { createResponseCache, type ResponseCache } from './response-cache.ts'
import { type Endpoint, type Input, JsonText, Reply } from './route.ts'
import { createRouter } from './router.ts'
import { readUpload, Upload } from './upload.ts'
import { validate } from './validate.ts'
import { validateQuery } from './validate-query.ts'

/** Creates the handler that serves the endpoints, with authentication, validation and the common error shape. */
export function mount<Principal, Caller>(
  ctx: Context,
  endpoints: readonly Endpoint[],
  access: RequestAccess<Principal, Caller>,
): Handler {
  const server = { ctx, access, cache: createResponseCache(ctx) }
  const router = createRouter(endpoints.map((endpoint) => ({ ...endpoint, usualStatus: usualStatusOf(endpoint) })))
  return async (request) => {
    const fail = (error: unknown) => toErrorResponse(ctx, request, error)
    const found = router.find(request.method === 'HEAD' ? 'GET' : request.method, request.path)
    const isRefusedHead = request.method === 'HEAD' && found?.route.usesLinkUp
    if (!found || isRefusedHead) return fail(noSuchRoute(request, router.methodsOf(request.path)))
    const { route: endpoint, params } = found
    const begun = performance.now()
    const span = ctx.tracer && beginRequestSpan(ctx.tracer, endpoint, request)
    const response = await (endpoint.form ? handleForm : handle)(server, { request, endpoint, params, span }).catch(
      fail,
    )
    const ms = performance.now() - begun
    observe(ctx, endpoint, response, ms)
    span?.end(response, ms)
    return response
  }
}

/** Returns the error for a request that matches no endpoint: 404 for an unknown path, 405 for an unknown method. */
function noSuchRoute({ method, path }: HttpRequest, allowed: string[]): AppError {
  if (allowed.length === 0) {
    const message = `There is no endpoint ${path.slice(0, 200)}. GET /api/docs lists the endpoints.`
    return new AppError('not_found', message)
  }
  const message = `The path ${path} does not support ${method}. It supports ${allowed.join(', ')}.`
  return new AppError('method_not_allowed', message, { allowed })
}

/**
 * Counts a request, and logs it at the level debug. The log contains the path
 * of the endpoint, since the path of the request may contain a token.
 */
function observe(ctx: Context, { id, method, path }: Endpoint, { status, headers }: HttpResponse, ms: number): void {
  ctx.metrics.countRequest(id, status, ms / 1_000)
  if (!ctx.log.isEnabled('debug')) return
  const requestId = headers['x-request-id']
  ctx.log.debug(`${method} ${path} ${status}`, { requestId, route: id, status, ms: Math.round(ms * 100) / 100 })
}

/** An endpoint with the status of its plain return values. */
interface MountedEndpoint extends Endpoint {
  usualStatus: number
}

/** A request that was routed to an endpoint. */
interface RoutedRequest {
  request: HttpRequest
  endpoint: MountedEndpoint
  params: Record<string, string>
  span: RequestSpan | undefined
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
  routed: RoutedRequest,
): Promise<HttpResponse> {
  try {
    return await handle(server, routed)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return toResponse(server.ctx, routed.endpoint, routed.request, errorPage(error))
  }
}

async function handle<Principal, Caller>(
  { ctx, access, cache }: Server<Principal, Caller>,
  { request, endpoint, params, span }: RoutedRequest,
): Promise<HttpResponse> {
  const { header } = request
  const credentials = { authorization: header('authorization'), cookie: header('cookie') }
  const address = addressOf(ctx.config, request)
  access.limitNetwork(endpoint, address)
  let principal = await access.authenticate(credentials, endpoint)
  const authenticatedAt = performance.now()
  span?.setRun(access.spanOfRun(principal))
  const received = await receiveBody(ctx, endpoint, request)
  // While the body arrived, the run of the token may have ended, or the person may have signed out.
  if (performance.now() - authenticatedAt > REAUTHENTICATE_MS)
    principal = await access.authenticate(credentials, endpoint)
  let caller = access.authorize(principal, endpoint, params.companyId)
  const validatedQuery = () => (endpoint.query ? validateQuery(endpoint.query, queryOf(request)) : undefined)
  const run = (ctx: Context, query: unknown, body: unknown) => {
    const input: Input<Caller> = {
      caller,
      params,
      query,
      body,
      header,
      address,
      drop: request.drop,
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
    const render = async () => renderJson(ctx, endpoint, request, toReply(await run(ctx, validatedQuery(), undefined)))
    const key = `${access.callerKey(caller)} ${request.path}${request.search}`
    return toRenderedResponse(request, await cache.get(key, render))
  }

  const query = validatedQuery()
  const parsed = received.parse()
  const body = parsed instanceof Promise ? await parsed : parsed
  // While a thread parsed the body, the caller may have lost the credential or the permission.
  if (parsed instanceof Promise) {
    principal = await access.authenticate(credentials, endpoint)
    caller = access.authorize(principal, endpoint, params.companyId)
  }
  const key = endpoint.method === 'POST' ? header('idempotency-key') : undefined
  const owner = key === undefined ? undefined : access.callerKey(caller)
  if (key === undefined || owner === undefined)
    return toResponse(ctx, endpoint, request, toReply(await run(ctx, query, body)))
  // The use case checks the permission for an entity, but a replay does not run it.
  const authorizeReplay = ({ body }: Reply) =>
    void access.authorize(principal, endpoint, params.companyId ?? companyOf(body))
  const once = {
    owner,
    key,
    request: [request.path, request.search, received.digest()],
    secret: endpoint.secret,
    authorizeReplay,
  }
  return toResponse(ctx, endpoint, request, await withIdempotency(ctx, once, (own) => run(own, query, body), toReply))
}

/** A body that takes longer to arrive, in milliseconds, causes another authentication. */
const REAUTHENTICATE_MS = 100

/** Returns the company of an entity in a response. */
const companyOf = (body: unknown): string | undefined => {
  const { companyId } = Object(body instanceof JsonText ? body.toJSON() : body) as { companyId?: unknown }
  return typeof companyId === 'string' ? companyId : undefined
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

async function receiveBody(ctx: Context, endpoint: Endpoint, request: HttpRequest): Promise<ReceivedBody> {
  const { method, body: schema, bodyOptional, upload, form } = endpoint
  if (method === 'GET') return { digest: () => '', parse: () => undefined }
  const maxSize = endpoint.bodyLimit ?? ctx.config.bodyLimit
  if (upload) {
    const { form: fields, digest } = await readUpload(request, maxSize)
    return { digest: () => digest, parse: () => validate(schema ?? Upload, fields) }
  }
  if (form) {
    const fields = await readForm(request, maxSize)
    return { digest: () => '', parse: () => validate(schema ?? NoFields, fields) }
  }
  const bytes = await readBody(request, maxSize)
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
