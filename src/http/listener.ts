import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { createCrossSiteGate, hostsOf, SECURITY_HEADERS } from './cross-site-gate.ts'
import type { Handler } from './handler.ts'
import { createRequestListener, sendResponse } from './request-listener.ts'
import { errorResponse } from './response.ts'

/** The timeouts for clients, in milliseconds. A slow client must not hold a connection for long. */
const TIMEOUTS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  // The gate checks the Host header itself and responds in the error shape of this API.
  requireHostHeader: false,
  // Two values of a header such as Authorization are an invalid one, instead of the first.
  joinDuplicateHeaders: true,
}

/** The maximum time that `close` waits for open responses, in milliseconds. */
const STOP_GRACE_MS = 1_000

/** The number of ports that are tried after a busy default port. */
const MAX_PORT_ATTEMPTS = 100

export interface Listener {
  port: number
  /** Sets the handler of requests. Call it in the same turn of the event loop in which `listen` resolves. */
  serve(handler: Handler): void
  /** Stops accepting connections, waits up to one second for open responses, and closes the remaining connections. */
  close(): Promise<void>
}

interface ListenOptions {
  host: string
  port: number
  /** Whether the port is fixed. If not, the next free port is used. */
  portGiven: boolean
  /** The host names besides loopback that requests may use. */
  allowedHosts: readonly string[]
  log: Log
}

/** Listens on a port. Each request passes the gate before routing and parsing. */
export async function listen(options: ListenOptions, timeouts: ServerOptions = {}): Promise<Listener> {
  const server = createServer({ ...TIMEOUTS, ...timeouts })
  server.on('clientError', sendParseError)
  const port = await bind(server, options)
  const gate = createCrossSiteGate(hostsOf(port, options.allowedHosts))
  return {
    port,
    serve(handler) {
      const respond = createRequestListener(handler, options.log)
      const onRequest = (request: IncomingMessage, response: ServerResponse) => {
        const refusal = gate({ method: request.method!, target: request.url!, rawHeaders: request.rawHeaders })
        if (!refusal) return void respond(request, response)
        const { headers, ...error } = errorResponse(refusal)
        sendResponse(response, { ...error, headers: { ...headers, connection: 'close' } })
      }
      server.on('request', onRequest)
      // Node responds to an unknown expectation with a 417 without our headers, so the expectation is ignored.
      server.on('checkExpectation', onRequest)
    },
    close: () => close(server),
  }
}

async function bind(server: Server, { host, port: first, portGiven }: ListenOptions): Promise<number> {
  const last = portGiven ? first : Math.min(first + MAX_PORT_ATTEMPTS, 65_535)
  for (let port = first; ; port++) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
      if (port < last) continue
      throw new AppError('conflict', `Port ${port} of ${host} is ${code === 'EACCES' ? 'not allowed' : 'busy'}.`)
    }
  }
}

/** Sends the error response to a request that Node's parser cannot read. */
function sendParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const { status, headers, body } = errorResponse(parseError(error.code))
  const lines = [...SECURITY_HEADERS, ...Object.entries(headers)].map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${status} Refused`, ...lines, `content-length: ${Buffer.byteLength(body)}`]
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`)
}

function parseError(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new AppError('headers_too_large', 'The request line and headers are too large.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new AppError('request_timeout', 'The request took too long to arrive.')
  return new AppError('malformed_request', 'The request is not valid HTTP.')
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A connection becomes idle when its response is complete; Node would keep it open for another request.
    const idle = setInterval(() => server.closeIdleConnections(), 20)
    const late = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS)
    server.close(() => {
      clearInterval(idle)
      clearTimeout(late)
      resolve()
    })
    server.closeIdleConnections()
  })
}
