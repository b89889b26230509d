import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Canaries } from './canaries.ts'
import { answerOf, noticeAnswer, noticeBody, noticeHeaders, ownToken } from './noticed.ts'

/**
 * Notices the secrets of every request and answer of a server in this process,
 * and searches the answers, whoever asks.
 *
 * @returns a function that ends it
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
  const asked: unknown[] = []
  before(request, 'push', (chunk: unknown) => {
    if (chunk === null) noticeBody(canaries, url, textOf(asked))
    else asked.push(chunk)
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
  // At the end of its sending, or where it was broken off.
  response.once('close', () => {
    const text = textOf(answered)
    const given = JSON.stringify([...headers]) + text
    canaries.search(answerOf(method, url), given, ownToken(url, textOf(asked)))
    noticeAnswer(canaries, method, url, headers, text.startsWith('{') ? JSON.parse(text) : text)
  })
}

/** Looks at the arguments of a method of one object before it does what it does. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the method takes.
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
