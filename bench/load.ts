import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A request as the bytes that are sent; `n` counts all requests of a load. */
export type RequestAt = (n: number) => string

export interface Load {
  /** The number of connections. Each sends one request after another. */
  clients: number
  requests: number
}

/**
 * Sends requests over persistent connections, without pipelining, and fails at
 * the first response that is not 2xx.
 *
 * @returns the requests per second, and the time of each in milliseconds
 */
export async function measure(port: number, { clients, requests }: Load, requestAt: RequestAt) {
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(port)))
  const started = performance.now()
  let next = 0
  const times: number[] = []
  const takeNext = () => (next < requests ? requestAt(next++) : undefined)
  await Promise.all(sockets.map((socket) => sendAll(socket, takeNext, times)))
  const seconds = (performance.now() - started) / 1_000
  for (const socket of sockets) socket.destroy()
  return { rate: requests / seconds, times }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

function sendAll(socket: Socket, next: () => string | undefined, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    const send = () => {
      const request = next()
      sent = performance.now()
      if (request === undefined) resolve()
      else socket.write(request)
    }
    let left = 0
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed the connection.')))
    socket.on('data', (chunk: Buffer) => {
      if (left === 0) {
        // The head of a response arrives in one piece, because it is short and the server writes it at once.
        const head = chunk.indexOf('\r\n\r\n')
        const text = chunk.toString('latin1', 0, head)
        if (!text.startsWith('HTTP/1.1 2')) return reject(new Error(chunk.toString()))
        left = head + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1])
      }
      left -= chunk.length
      if (left > 0) return
      times.push(performance.now() - sent)
      send()
    })
    send()
  })
}
