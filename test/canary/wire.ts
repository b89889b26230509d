import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Canaries } from './canaries.ts'
import { answerOf, noticeAnswer, noticeBody, noticeHeaders, ownToken } from './noticed.ts'

/**
 * Records the secrets of every request and response of a server in this process,
 * and searches the responses to all clients.
 *
 * @returns a function that stops the recording
 */
export function watchWire(port: number, canaries: Canaries): () => void {
  const watch = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (request.socket.localPort === port) watchExchange(request, response, canaries)
  }
  subscribe('http.server.request.start', watch)
  return () => {
    unsubscribe('http.server.request.start', watch)
  }
}

function watchExchange(request: IncomingMessage, response: ServerResponse, canaries: Canaries): void {
  const { method = '', url = '' } = request
  noticeHeaders(canaries, request.headers as Record<string, string>)
  const requested: unknown[] = []
  before(request, 'push', (chunk: unknown) => {
    if (chunk === null) noticeBody(canaries, url, textOf(requested))
    else requested.push(chunk)
  })
  const answered: unknown[] = []
  let headers = new Headers()
  before(response, 'writeHead', (_status: number, ...rest: unknown[]) => {
    headers = headersOf(rest.at(-1))
  })
  before(response, 'write', (chunk: unknown) => answered.push(chunk))
  before(response, 'end', (chunk: unknown) => {
    if (typeof chunk !== 'function' && chunk != null) answered.push(chunk)
  })
  // The response was sent completely or aborted.
  response.once('close', () => {
    const text = textOf(answered)
    const given = JSON.stringify([...headers]) + text
    canaries.search(answerOf(method, url), given, ownToken(url, textOf(requested)))
    noticeAnswer(canaries, method, url, headers, text.startsWith('{') ? JSON.parse(text) : text)
  })
}

/** Wraps a method of one object to read its arguments before each call. */
// biome-ignore lint/suspicious/noExplicitAny: the method can take any arguments.
function before(object: any, name: string, look: (...args: any[]) => void): void {
  const { [name]: method } = object
  object[name] = (...args: unknown[]) => {
    look(...args)
    return method.apply(object, args)
  }
}

const textOf = (chunks: readonly unknown[]) =>
  Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array))).toString()

function headersOf(given: unknown): Headers {
  const headers = new Headers()
  if (typeof given !== 'object' || given === null) return headers
  const pairs = Array.isArray(given) ? given : Object.entries(given)
  for (const [name, value] of pairs as [string, string | string[]][])
    for (const one of [value].flat()) headers.append(name, String(one))
  return headers
}
