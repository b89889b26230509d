import type { EndpointName, WireOf } from '../../api.ts'
import type { AppError } from '../../platform/errors.ts'
import { errorFrom, type UnexpectedResponse } from './error.ts'
import { linkedCursor } from './link.ts'
import type { ItemOf, ListName, RequestArguments, RequestOptions } from './types.ts'

/** The part of `fetch` that a client uses. A program may pass its own transport. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string | FormData; signal?: AbortSignal },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>

/** One page of a list. */
export interface ListPage<Item> {
  items: Item[]
  /** The cursor of the next page: pass it as `query.after`. Undefined on the last page. */
  next: string | undefined
  /** The length of the whole list. The server sends it if `query.count` is `'true'`. */
  total: number | undefined
}

export interface Client {
  readonly url: string
  /**
   * Sends a request to an endpoint and returns the body of the response.
   *
   *     await client.request('GET /api/issues/:issueId', { params: { issueId: 'TER-1' } })
   *
   * @throws AppError with the code and message that the server sent
   * @throws UnexpectedResponse if a response of 4xx or 5xx carries no error code that this client knows
   */
  request<const Name extends EndpointName>(
    name: Name,
    ...options: RequestArguments<Name>
  ): Promise<WireOf<Name>['response']>
  /** Requests one page of a list. Throws as `request` does. */
  page<const Name extends ListName>(name: Name, ...options: RequestArguments<Name>): Promise<ListPage<ItemOf<Name>>>
  /** Requests all pages of a list, one after the other. Throws as `request` does. */
  pages<const Name extends ListName>(
    name: Name,
    ...options: RequestArguments<Name>
  ): AsyncGenerator<ListPage<ItemOf<Name>>>
}

/**
 * Creates a client of the HTTP API. Its types come from the endpoint table, so a
 * wrong path, parameter or field does not compile. It runs in Node and in a
 * browser.
 *
 * @param options.url the server, such as `http://127.0.0.1:4400`; in a page, `location.origin`
 * @param options.credential a bearer token; a page authenticates with its cookie instead
 * @param options.toError replaces the error that is thrown for a response of 4xx or 5xx
 */
export function createClient({
  url,
  credential,
  fetch = globalThis.fetch,
  toError = (error) => error,
}: {
  url: string
  credential?: string | undefined
  fetch?: Fetch
  toError?: (error: AppError | UnexpectedResponse) => Error
}): Client {
  const send = async (name: string, { params, query, body, headers, signal }: RequestOptions = {}) => {
    const [method, path] = name.split(' ') as [string, string]
    const isForm = isFormData(body)
    const response = await fetch(new URL(pathOf(path, params) + queryOf(query), url).href, {
      method,
      headers: {
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...(credential && { authorization: `Bearer ${credential}` }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    const content: unknown = isJson ? JSON.parse(text) : text === '' ? undefined : text
    if (response.status >= 400) throw toError(errorFrom(response.status, content))
    return { response, content }
  }
  const page = async (name: string, options: RequestOptions = {}): Promise<ListPage<never>> => {
    const { response, content } = await send(name, options)
    const total = response.headers.get('x-total-count')
    return {
      items: content as never[],
      next: linkedCursor(response.headers.get('link')),
      total: total === null ? undefined : Number(total),
    }
  }
  const client = {
    url,
    request: async (name: string, options?: RequestOptions) => (await send(name, options)).content,
    page,
    async *pages(name: string, options: RequestOptions = {}) {
      let after: string | undefined
      do {
        const one = await page(name, { ...options, query: { ...options.query, ...(after !== undefined && { after }) } })
        yield one
        after = one.next
      } while (after !== undefined)
    },
  }
  return client as Client
}

/** `instanceof FormData` would load all of `fetch` in Node, which takes 20 ms. */
const isFormData = (body: unknown): body is FormData => Object.prototype.toString.call(body) === '[object FormData]'

const pathOf = (path: string, params: Record<string, string> = {}) =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))

function queryOf(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
