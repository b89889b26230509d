import { Hono, type Context as HonoContext } from 'hono'
import { parseBody, readBody } from '../../http/body.ts'
import { toErrorResponse } from '../../http/response.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { Fetch } from '../client/client.ts'

/** The headers of a message that the requests to the API contain: the credential of its caller, and its trace. */
const PASSED_ON = ['authorization', 'cookie', 'traceparent'] as const

const PATH = '/mcp'

/** The maximum number of messages in a batch. Their calls run in one turn of the event loop, and other requests wait for all. */
const MAX_BATCH = 10

type Serve<Env> = (request: Request, env: Env) => Response | Promise<Response>

/**
 * Serves the Model Context Protocol (streamable HTTP) at `/mcp`, and passes on
 * every other request. There are no sessions: each message is independent. The
 * tools send requests to the API in this process, with the caller's credentials.
 */
export function withMcp<Env extends object>(ctx: Context, next: Serve<Env>): Serve<Env> {
  const app = new Hono<{ Bindings: Env }>()
  app.post(PATH, async (c) => {
    const { origin } = new URL(c.req.url)
    const send = sendAs(c, next)
    const identity = await send(`${origin}/api/whoami`, { method: 'GET', headers: {} })
    if (identity.status !== 200) return identity
    const message = parseBody(await readBody(c, ctx.config.bodyLimit))
    if (Array.isArray(message) && message.length > MAX_BATCH) {
      throw new AppError('validation_failed', `Send at most ${MAX_BATCH} messages in one request.`)
    }
    // Loaded with the first message, because most servers never receive one.
    const [{ createMcpServer }, { createClient }, { WebStandardStreamableHTTPServerTransport }] = await Promise.all([
      import('./server.ts'),
      import('../client/client.ts'),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    ])
    const server = createMcpServer(createClient({ url: origin, fetch: send }))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await transport.handleRequest(c.req.raw, { parsedBody: message })
    } finally {
      await server.close()
    }
  })
  app.all(PATH, () => {
    throw new AppError('method_not_allowed', 'Send messages to /mcp with POST.', { allowed: ['POST'] })
  })
  app.onError((error, c) => toErrorResponse(ctx, error, c as unknown as HonoContext))
  return (request, env) => (isForMcp(request.url) ? app.fetch(request, env) : next(request, env))
}

/** Whether a request is for /mcp. Every request passes here, so most URLs are not parsed. */
const isForMcp = (url: string) => url.includes(PATH) && new URL(url).pathname === PATH

/** Returns a transport that sends requests to the API with the credential and the trace of a message. */
function sendAs<Env extends object>(c: HonoContext<{ Bindings: Env }>, next: Serve<Env>) {
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = c.req.header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  return async (...[url, { headers, body, ...init }]: Parameters<Fetch>): Promise<Response> =>
    next(
      new Request(url, { ...init, headers: { ...headers, ...passedOn }, ...(body !== undefined && { body }) }),
      c.env,
    )
}
