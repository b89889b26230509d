import { parseBody, readBody } from '../../http/body.ts'
import type { Handler, HttpRequest, HttpResponse } from '../../http/handler.ts'
import { fetchFrom, fromFetchResponse } from '../../http/in-process.ts'
import { toErrorResponse } from '../../http/response.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { Fetch } from '../client/client.ts'

/** The headers of a message that the requests to the API contain: the credential of its caller, and its trace. */
const PASSED_ON = ['authorization', 'cookie', 'traceparent'] as const

const PATH = '/mcp'

/** The address of this server in requests that do not leave it. */
const ORIGIN = 'http://localhost'

/** Half of the usual limit: the tool api_request reads and writes its body twice, which takes 60 ms for 2 MB. */
const MAX_MESSAGE_BYTES = 1024 * 1024

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
  // Loaded with the first message, because most servers never receive one.
  const [{ respond, VERSIONS }, { createClient }] = await Promise.all([
    import('./respond.ts'),
    import('../client/client.ts'),
  ])
  const version = request.header('mcp-protocol-version')
  if (version !== undefined && !VERSIONS.includes(version)) {
    throw new AppError('validation_failed', `Mcp-Protocol-Version must be one of ${VERSIONS.join(', ')}.`)
  }
  const message = parseBody(await readBody(request, Math.min(ctx.config.bodyLimit, MAX_MESSAGE_BYTES)))
  const response = await respond(createClient({ url: ORIGIN, fetch: send }), message)
  if (response === undefined) return { status: 202, headers: {}, body: null }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(response) }
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
