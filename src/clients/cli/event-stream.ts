import { type IncomingMessage, request as requestHttp } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, errorOf } from '../connection/client.ts'

/** One event of a stream. `open` stands for the stream itself: it is there, and nothing that comes is missed. */
export interface StreamEvent {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: each kind of event has data of its own.
  data: any
}

/** How long the first wait for a lost server is, in milliseconds; doubled each time, up to the cap. */
const RETRY_MS = 250
const RETRY_CAP_MS = 5_000

/** How long a stream may say nothing, in milliseconds: the server says every 15 s that it lives. */
const SILENCE_MS = 45_000

/**
 * Watches a stream of Server-Sent Events, for ever: when it breaks it is asked
 * for again from the last event on. Ends with the signal, or with what the
 * server refuses.
 *
 * @param options.signal ends it, quietly
 * @param options.isUp whether the server has just answered: then it is waited for from the start
 * @throws AppError when the server refuses; CliError when it was never there
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
      for await (const event of openStream(client, path, lastEventId, signal)) {
        wasUp = true
        wait = RETRY_MS
        lastEventId = event.id ?? lastEventId
        yield event
      }
    } catch (error) {
      if (signal.aborted) return
      // What never was there is not waited for; what was may be restarting.
      if (!wasUp || !(error instanceof Broken)) throw error instanceof Broken ? await whyBroken(client, error) : error
    }
    await delay(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, RETRY_CAP_MS)
  }
}

/** A connection that could not be made or was lost. */
class Broken extends Error {}

/** Asks in the usual way, so that the error is the usual one. */
async function whyBroken(client: Client, error: Error): Promise<unknown> {
  return client.request('GET /api/health').then(
    () => error,
    (reason) => reason,
  )
}

async function* openStream(
  client: Client,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent & { id: string | undefined }> {
  const target = new URL(path, client.url)
  const send = target.protocol === 'https:' ? (await import('node:https')).request : requestHttp
  const headers = {
    accept: 'text/event-stream',
    ...(client.token && { authorization: `Bearer ${client.token}` }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const outgoing = send(target, { headers, timeout: SILENCE_MS })
  // Not by the request's own `signal`, whose error nobody may be listening for by then.
  const abort = () => outgoing.destroy()
  signal.addEventListener('abort', abort)
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve)
      outgoing.on('error', (error) => reject(new Broken(error.message)))
      outgoing.on('close', () => reject(new Broken('The connection was closed.')))
      outgoing.on('timeout', () => outgoing.destroy(new Broken('The stream fell silent.')))
      outgoing.end()
    })
    yield* eventsOf(incoming, client)
  } catch (error) {
    throw isLost(error) ? new Broken(error.message) : error
  } finally {
    signal.removeEventListener('abort', abort)
    outgoing.destroy()
  }
}

async function* eventsOf(
  incoming: IncomingMessage,
  client: Client,
): AsyncGenerator<StreamEvent & { id: string | undefined }> {
  incoming.setEncoding('utf8')
  let rest = ''
  if (incoming.statusCode !== 200) {
    for await (const chunk of incoming) rest += chunk
    throw refusalOf(incoming.statusCode!, rest, client)
  }
  yield { id: undefined, type: 'open', data: null }
  for await (const chunk of incoming) {
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop()!
    for (const frame of frames) yield* eventsIn(frame)
  }
}

const isLost = (error: unknown): error is Error =>
  error instanceof Broken || (error instanceof Error && 'code' in error && !('status' in error))

/** A server that stops, or is full, is asked again; any other refusal is the answer. */
function refusalOf(status: number, text: string, client: Client): Error {
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // A proxy's page: its status says it.
  }
  const error = errorOf({ status, body }, client)
  return status >= 502 && status <= 504 ? new Broken(error.message) : error
}

function* eventsIn(frame: string): Generator<StreamEvent & { id: string | undefined }> {
  const field = (name: string) =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const [id, type, data] = [field('id'), field('event'), field('data')]
  if (type !== undefined) yield { id, type, data: data === undefined ? null : JSON.parse(data) }
  // A comment with an id only says where the stream stands.
  else if (id !== undefined) yield { id, type: 'position', data: null }
}
