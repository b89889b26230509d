import { type Handler, type HttpRequest, type HttpResponse, splitTarget } from './handler.ts'

/** What a request in this process does not have by itself. */
type Connection = Partial<Pick<HttpRequest, 'address' | 'drop'>>

/**
 * Returns a function that sends requests to a handler of this process, as
 * `fetch` sends them over a socket.
 */
export const fetchFrom =
  (handler: Handler) =>
  async (target: string, init: RequestInit = {}, connection: Connection = {}): Promise<Response> => {
    const request = new Request(target.startsWith('/') ? `http://localhost${target}` : target, init)
    const { status, headers, body } = await handler(fromFetchRequest(request, connection))
    if (request.method !== 'HEAD')
      return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers })
    if (body instanceof ReadableStream) await body.cancel()
    return new Response(null, { status, headers })
  }

function fromFetchRequest(request: Request, { address, drop = () => {} }: Connection): HttpRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    ...splitTarget(pathname + search)!,
    header: (name) => request.headers.get(name) ?? undefined,
    address,
    async readBody(maxSize) {
      const bytes = new Uint8Array(await request.arrayBuffer())
      return bytes.byteLength > maxSize ? undefined : bytes
    },
    drop,
  }
}

/** Converts a complete response of `fetch` to one of a handler. */
export async function fromFetchResponse(response: Response): Promise<HttpResponse> {
  const body = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), body }
}
