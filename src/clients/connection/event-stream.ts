import { type IncomingMessage, request as requestHttp } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { type Client, errorOf } from './client.ts'

/** One event of a stream. `open` is not sent: it means that the stream is connected. */
export interface StreamEvent {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has its own data.
  data: any
}

/** The first delay before a reconnection, in milliseconds. It doubles each time, up to the cap. */
const RETRY_MS = 250
const RETRY_CAP_MS = 5_000

/** How long a stream may be silent, in milliseconds. The server sends a comment every 15 s. */
const SILENCE_MS = 45_000

/**
 * Watches a stream of Server-Sent Events. If the stream breaks, it reconnects
 * after the last event. It ends with the signal.
 *
 * @param options.isUp whether the server has responded before; the first connection is then retried too
 * @throws AppError if the server refuses the request; CliError if the server was never reachable
 */
export async function* watchStream(
  client: Client,
  path: string,
  { signal, isUp = false }: { signal: AbortSignal; isUp?: boolean },
): AsyncGenerator<StreamEvent> {
  let lastEventId: string | undefined
  let wait = RETRY_MS
  let wasUp = isUp
  while (!signal.aborted) {
    try {
      for await (const { id, ...event } of openStream(client, path, lastEventId, signal)) {
        wasUp = true
        wait = RETRY_MS
        lastEventId = id ?? lastEventId
        yield event
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ConnectionLost)) throw error
      // A server that never responded is an error. One that responded before may be restarting.
      if (!wasUp) throw await reasonOf(client, error)
    }
    await delay(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, RETRY_CAP_MS)
  }
}

/** A connection that could not be opened, or that broke. */
class ConnectionLost extends Error {}

/** Sends an ordinary request, whose error explains why no connection is possible. */
async function reasonOf(client: Client, error: Error): Promise<unknown> {
  return client.request('GET /api/health').then(
    () => error,
    (reason) => reason,
  )
}

type IdentifiedEvent = StreamEvent & { id: string | undefined }

async function* openStream(
  client: Client,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<IdentifiedEvent> {
  const target = new URL(path, client.url)
  const send = target.protocol === 'https:' ? (await import('node:https')).request : requestHttp
  const headers = {
    accept: 'text/event-stream',
    ...(client.token && { authorization: `Bearer ${client.token}` }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const outgoing = send(target, { headers, timeout: SILENCE_MS })
  // The `signal` option of the request is not used: it can emit an error after all listeners are removed.
  const abort = () => outgoing.destroy()
  signal.addEventListener('abort', abort)
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve)
      outgoing.on('error', (error) => reject(new ConnectionLost(error.message)))
      outgoing.on('close', () => reject(new ConnectionLost('The connection was closed.')))
      outgoing.on('timeout', () => outgoing.destroy(new ConnectionLost('The stream is silent.')))
      outgoing.end()
    })
    yield* eventsOf(incoming, client)
  } catch (error) {
    throw isLost(error) ? new ConnectionLost(error.message) : error
  } finally {
    signal.removeEventListener('abort', abort)
    outgoing.destroy()
  }
}

async function* eventsOf(incoming: IncomingMessage, client: Client): AsyncGenerator<IdentifiedEvent> {
  incoming.setEncoding('utf8')
  if (incoming.statusCode !== 200) {
    let text = ''
    for await (const chunk of incoming) text += chunk
    throw refusalOf(incoming.statusCode!, text, client)
  }
  yield { id: undefined, type: 'open', data: null }
  let events: IdentifiedEvent[] = []
  const parser = createParser({
    // An id without an event is the position of the stream. A following event replaces it.
    onId: (id) => events.push({ id, type: 'position', data: null }),
    onEvent({ id, event = 'message', data }) {
      if (id !== undefined) events.pop()
      events.push({ id, type: event, data: data === '' ? null : JSON.parse(data) })
    },
  })
  for await (const chunk of incoming) {
    parser.feed(chunk)
    const ready = events
    events = []
    yield* ready
  }
}

const isLost = (error: unknown): error is Error =>
  error instanceof ConnectionLost || (error instanceof Error && 'code' in error && !('status' in error))

/** Converts an error response. The stream reconnects to a server that stops or is overloaded; any other response is final. */
function refusalOf(status: number, text: string, client: Client): Error {
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // The response is a page of a proxy, so only the status is useful.
  }
  const error = errorOf({ status, body }, client)
  return status >= 502 && status <= 504 ? new ConnectionLost(error.message) : error
}
