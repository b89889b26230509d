import type { Fetch as Send } from '../client/client.ts'

type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

const PATH = '/mcp'

/** The largest message, in bytes: as large as any body of the API. */
const LIMIT = 2 * 1024 * 1024

/** What a request to the API carries over from the request to `/mcp`: who asks. */
const CREDENTIALS = ['authorization', 'cookie', 'x-run-id']

/**
 * Serves the Model Context Protocol (streamable HTTP) at `/mcp`, and passes
 * every other request on. Each message is answered by itself: there are no
 * sessions. The tools ask the API in this process, as whoever asks.
 */
export function withMcp<Env>(next: Fetch<Env>): Fetch<Env> {
  return async (request, env) => {
    if (new URL(request.url).pathname !== PATH) return next(request, env)
    if (request.method !== 'POST') return refusal(405, 'method_not_allowed', 'Send messages to /mcp with POST.')
    const credentials = Object.fromEntries(
      CREDENTIALS.map((name) => [name, request.headers.get(name)]).filter(([, value]) => value !== null),
    ) as Record<string, string>
    const ask: Send = async (url, { headers, body, ...init }) =>
      next(
        new Request(url, { ...init, headers: { ...headers, ...credentials }, ...(body !== undefined && { body }) }),
        env,
      )
    const { origin } = new URL(request.url)
    const identity = await ask(`${origin}/api/whoami`, { method: 'GET', headers: {} })
    if (identity.status !== 200) return identity as Response
    const text = await readText(request)
    if (text === undefined) return refusal(413, 'body_too_large', `A message is at most ${LIMIT} bytes.`)
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return refusal(400, 'malformed_json', 'The message is not JSON.')
    }
    // Loaded with the first message: most servers never get one.
    const [{ createMcpServer }, { createClient }, { WebStandardStreamableHTTPServerTransport }] = await Promise.all([
      import('./server.ts'),
      import('../client/client.ts'),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    ])
    const server = createMcpServer(createClient({ url: origin, fetch: ask }))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await transport.handleRequest(request, { parsedBody: message })
    } finally {
      await server.close()
    }
  }
}

/** @returns undefined for a body over the limit */
async function readText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes > LIMIT) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const refusal = (status: number, code: string, error: string) => Response.json({ error, code }, { status })
