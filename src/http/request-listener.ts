import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { SECURITY_HEADERS } from './cross-site-gate.ts'
import { type Handler, type HttpRequest, type HttpResponse, splitTarget } from './handler.ts'
import { errorResponse, failureResponse } from './response.ts'

/** The time, in milliseconds, in which the rest of a body may arrive after its response. Then the connection ends. */
const REST_OF_BODY_MS = 500

/** Returns the listener that answers the requests of a Node server with a handler. */
export function createRequestListener(handler: Handler, log: Log) {
  const sendAtEndOfTurn = createSender()
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const fail = (error: unknown) => failureResponse(log, 'A request', error)
    const request = toRequest(incoming, outgoing)
    let response: HttpResponse
    try {
      response = request ? await handler(request) : invalidTarget()
    } catch (error) {
      response = fail(error)
    }
    const send = () => {
      try {
        sendResponse(outgoing, response)
      } catch (error) {
        // A header that Node refuses.
        sendResponse(outgoing, fail(error))
      }
      if (!incoming.complete) discardBody(incoming)
    }
    if (incoming.method === 'GET') sendAtEndOfTurn(send)
    else send()
  }
}

/**
 * Sends the responses of one turn of the event loop together, at its end. A
 * write to a socket wakes the waiting client, which costs more than reading an
 * issue; further writes in a row find it awake. Measured with 16 clients on 2
 * cores: 27,000 reads per second, against 14,000 if each response is sent
 * alone. Responses to writes leave together anyway, after their common commit.
 */
function createSender() {
  let waiting: (() => void)[] = []
  return (send: () => void) => {
    if (waiting.push(send) > 1) return
    setImmediate(() => {
      const all = waiting
      waiting = []
      for (const one of all) one()
    })
  }
}

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest | undefined {
  const target = splitTarget(incoming.url!)
  if (!target) return undefined
  return {
    method: incoming.method!,
    path: target.path,
    search: target.search,
    header: (name) => incoming.headers[name] as string | undefined,
    address: incoming.socket.remoteAddress,
    readBody: (maxSize) => readBody(incoming, maxSize),
    drop: () => void outgoing.destroy(),
  }
}

/** The gate accepted the request, so only the path can be invalid. */
const invalidTarget = () => errorResponse(new AppError('malformed_request', 'The request target is not a valid path.'))

function readBody(incoming: IncomingMessage, maxSize: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxSize) chunks.push(chunk)
      else resolve(undefined)
    }
    const onEnd = () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)) as Uint8Array<ArrayBuffer>)
    const onClose = () => {
      if (!incoming.complete) return reject(new Error('The connection ended early.'))
      // The client disconnected after it had sent the whole body.
      const rest: Buffer | null = incoming.read()
      if (rest) onData(rest)
      onEnd()
    }
    if (incoming.closed) onClose()
    else incoming.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

/** Receives the rest of a body that nobody reads: the client may read the response only after it has sent all. */
function discardBody(incoming: IncomingMessage): void {
  const timeout = setTimeout(() => incoming.socket.destroySoon(), REST_OF_BODY_MS)
  const stop = () => clearTimeout(timeout)
  incoming.on('end', stop).on('close', stop).resume()
}

const COMMON_HEADERS = Object.fromEntries(SECURITY_HEADERS)

/** The statuses of responses that have no body and no length. */
const WITHOUT_BODY = new Set([204, 304])

/** Sends a response, with the security headers that it does not set itself. */
export function sendResponse(outgoing: ServerResponse, { status, headers, body }: HttpResponse): void {
  const all: Record<string, string | number> = { ...COMMON_HEADERS, ...headers }
  if (body instanceof ReadableStream) {
    outgoing.writeHead(status, all)
    if (outgoing.req.method === 'HEAD') void body.cancel()
    else return void sendStream(outgoing, body)
    return void outgoing.end()
  }
  if (!WITHOUT_BODY.has(status)) all['content-length'] = body === null ? 0 : Buffer.byteLength(body)
  outgoing.writeHead(status, all).end(body)
}

/** Sends a stream as fast as the client reads it, and cancels it when the client disconnects. */
async function sendStream(outgoing: ServerResponse, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader()
  let resume = () => {}
  outgoing.on('drain', () => resume())
  outgoing.on('close', () => {
    resume()
    reader.cancel().catch(() => {})
  })
  outgoing.flushHeaders()
  try {
    while (!outgoing.destroyed) {
      const { done, value } = await reader.read()
      if (done) return void outgoing.end()
      if (outgoing.write(value) || outgoing.destroyed) continue
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
    await reader.cancel()
  } catch {
    outgoing.destroy()
  }
}
