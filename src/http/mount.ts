import type { ServerResponse } from 'node:http'
import type { Hono, Context as HonoContext } from 'hono'
import * as v from 'valibot'
import { leastRole } from '../access/board/role.ts'
import { type Caller, callerOf, isOfCompany } from '../access/caller.ts'
import { anyone } from '../access/who.ts'
import { findCompany } from '../organization/company/queries.ts'
import type { Context } from '../platform/context.ts'
import { AppError, forbidden, notFound } from '../platform/errors.ts'
import { answer, answerError } from './answer.ts'
import { parseBody, readBody, readForm } from './body.ts'
import { withIdempotency } from './idempotency.ts'
import { addressOf } from './proxy.ts'
import { type Endpoint, type Input, Reply } from './route.ts'
import { readUpload, Upload } from './upload.ts'
import { validate } from './validate.ts'

/** Makes each endpoint a route of the app: who may call, validation, the answer's form and one error shape. */
export function mount(app: Hono, ctx: Context, endpoints: readonly Endpoint[]): void {
  for (const endpoint of endpoints) {
    app.on(endpoint.method, endpoint.path.replace(TEXT_FILE, ':$1{[^/]+\\.txt}'), (c) => handle(ctx, endpoint, c))
  }
  app.onError((error, c) => answerError(ctx, error, c))
  const noSuchRoute = refuseUnknown(endpoints)
  app.notFound((c) => answerError(ctx, noSuchRoute(c), c))
}

/** A path that ends like `/:name.txt`: its parameter is what stands before the `.txt`. */
const TEXT_FILE = /:(\w+)\.txt$/

async function handle(ctx: Context, endpoint: Endpoint, c: HonoContext): Promise<Response> {
  const credentials = { authorization: c.req.header('authorization'), cookie: c.req.header('cookie') }
  const found = await callerOf(ctx, credentials, endpoint.who.includes(anyone))
  const caller: Caller = found.type === 'board' ? { ...found, needs: leastRole(endpoint) } : found
  const params = paramsOf(endpoint, c)
  admit(ctx, endpoint, caller, params.companyId)
  const query = endpoint.query ? validate(endpoint.query, c.req.query()) : undefined
  const { body, text } = await bodyOf(ctx, endpoint, c)
  const input: Input = {
    caller,
    params,
    query,
    body,
    header: (name) => c.req.header(name),
    address: addressOf(ctx.config, c),
    drop: () => (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing?.destroy(),
  }

  const key = endpoint.method === 'POST' ? c.req.header('idempotency-key') : undefined
  const run = (ctx: Context) => endpoint.run(ctx, input as never)
  const toReply = (result: unknown) => settle(endpoint, result)
  if (key === undefined || caller.type === 'anonymous') return answer(ctx, endpoint, c, toReply(await run(ctx)))
  const once = { key, request: [c.req.path, new URL(c.req.url).search, text], secret: endpoint.secret }
  return answer(ctx, endpoint, c, await withIdempotency(ctx, caller, once, run, toReply))
}

function paramsOf(endpoint: Endpoint, c: HonoContext): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  const file = TEXT_FILE.exec(endpoint.path)?.[1]
  return file ? { ...params, [file]: params[file]!.slice(0, -'.txt'.length) } : params
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

/** What a route without a body is sent: nothing, or an object without fields. */
const NoFields = v.strictObject({})

/** Reads and checks the body of a request; `text` is what makes it the same request again. */
async function bodyOf(ctx: Context, endpoint: Endpoint, c: HonoContext): Promise<{ body: unknown; text: string }> {
  if (endpoint.method === 'GET') return { body: undefined, text: '' }
  const maxSize = endpoint.bodyLimit ?? ctx.config.bodyLimit
  if (endpoint.upload) {
    const { form, digest } = await readUpload(c, maxSize)
    return { body: validate(endpoint.body ?? Upload, form), text: digest }
  }
  if (endpoint.form) return { body: validate(endpoint.body ?? NoFields, await readForm(c, maxSize)), text: '' }
  const text = await readBody(c, maxSize)
  if (text === '' && !endpoint.body) return { body: undefined, text }
  const parsed = text === '' && endpoint.bodyOptional ? {} : parseBody(text)
  return { body: validate(endpoint.body ?? NoFields, parsed), text }
}

/** Turns what a use case returned into a reply with its usual status. */
function settle(endpoint: Endpoint, result: unknown): Reply {
  if (result instanceof Reply) return result
  const status = Number(Object.keys(endpoint.responses).find((code) => code.startsWith('2')) ?? 200)
  return new Reply(status, result)
}

/** Says, of a request that no route takes, whether its path or only its method is unknown. */
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
        `There is no ${c.req.path.slice(0, 200)} here. GET /api/docs lists what there is.`,
      )
    }
    return new AppError(
      'method_not_allowed',
      `There is no ${c.req.method} of ${c.req.path}: it takes ${allowed.join(', ')}.`,
      {
        allowed,
      },
    )
  }
}
