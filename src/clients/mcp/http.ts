import { parseBody, readBody } from '../../http/body.ts'
import type { Handler, HttpRequest, HttpResponse } from '../../http/handler.ts'
import { fetchFrom, fromFetchResponse, toFetchRequest } from '../../http/in-process.ts'
import { toErrorResponse } from '../../http/response.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { Fetch } from '../client/client.ts'

/** The headers of a message that the requests to the API contain: the credential of its caller, and its trace. */
const PASSED_ON = ['authorization', 'cookie', 'traceparent'] as const

const PATH = '/mcp'

/** The address of this server in requests that do not leave it. */
const ORIGIN = 'http://localhost'

/** The maximum number of messages in a batch. Their calls run in one turn of the event loop, and other requests wait for all. */
const MAX_BATCH = 10

/** The headers that the protocol reads. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id']

/**
 * Serves the Model Context Protocol (streamable HTTP) at `/mcp`, and passes on
 * every other request. There are no sessions: each message is independent. The
 * tools send requests to the API in this process, with the caller's credentials.
 */
export function withMcp(ctx: Context, next: Handler): Handler {
  return async (request) => {
    if (request.path !== PATH) return next(request)
    try {
      return await handleMessage(ctx, request, next)
    } catch (error) {
      return toErrorResponse(ctx, request, error)
    }
  }
}

async function handleMessage(ctx: Context, request: HttpRequest, next: Handler): Promise<HttpResponse> {
  if (request.method !== 'POST') {
    throw new AppError('method_not_allowed', 'Send messages to /mcp with POST.', { allowed: ['POST'] })
  }
  const send = sendAs(request, next)
  const identity = await send(`${ORIGIN}/api/whoami`, { method: 'GET', headers: {} })
  if (identity.status !== 200) return fromFetchResponse(identity)
  const message = parseBody(await readBody(request, ctx.config.bodyLimit))
  if (Array.isArray(message) && message.length > MAX_BATCH) {
    throw new AppError('validation_failed', `Send at most ${MAX_BATCH} messages in one request.`)
  }
  // Loaded with the first message, because most servers never receive one.
  const [{ createMcpServer }, { createClient }, { WebStandardStreamableHTTPServerTransport }] = await Promise.all([
    import('./server.ts'),
    import('../client/client.ts'),
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
  ])
  const server = createMcpServer(createClient({ url: ORIGIN, fetch: send }))
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const response = await transport.handleRequest(toFetchRequest(request, PROTOCOL_HEADERS), { parsedBody: message })
    return await fromFetchResponse(response)
  } finally {
    await server.close()
  }
}

/** Returns a transport that sends requests to the API with the credential and the trace of a message. */
function sendAs({ header, address, drop }: HttpRequest, next: Handler) {
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const send = fetchFrom(next)
  return (...[url, { headers, ...init }]: Parameters<Fetch>) =>
    send(url, { ...init, headers: { ...headers, ...passedOn } }, { address, drop })
}
