/** A request as the endpoints receive it: from a socket, or from this process. */
export interface HttpRequest {
  method: string
  /** The path, with its escapes. */
  path: string
  /** The query with its `?`, or an empty text. */
  search: string
  /** Returns a header by its name in lower case. A repeated header is one text with commas. */
  header(name: string): string | undefined
  /** The address of the other end of the connection, if there is one. */
  address: string | undefined
  /** Reads the body. Returns undefined if it is larger than `maxSize` bytes. Rejects if the connection ends early. */
  readBody(maxSize: number): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Closes the connection at once. */
  drop(): void
}

export interface HttpResponse {
  status: number
  /** By name in lower case. */
  headers: Record<string, string>
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

export type Handler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>

/** A target that the URL parser would not change. */
const PLAIN = /^\/[\w~!$&()*+,\-./:;=?@[\]]*$/

/**
 * Splits the target of a request into path and query, as the URL parser does:
 * without dot segments and fragment.
 *
 * @returns undefined if the target is not a path
 */
export function splitTarget(target: string): Pick<HttpRequest, 'path' | 'search'> | undefined {
  const begin = target.indexOf('?')
  const path = begin < 0 ? target : target.slice(0, begin)
  if (PLAIN.test(target) && !path.includes('/.')) return { path, search: begin < 0 ? '' : target.slice(begin) }
  // In a URL, a backslash is a slash.
  const url = path.includes('\\') ? null : URL.parse(`http://localhost${target}`)
  return url ? { path: url.pathname, search: url.search } : undefined
}

/** Returns the query of a request by parameter. Of a repeated one, the first value counts. */
export function queryOf({ search }: HttpRequest): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  if (search === '') return query
  for (const [name, value] of new URLSearchParams(search)) query[name] ??= value
  return query
}
