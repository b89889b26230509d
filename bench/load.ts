import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A request as the bytes that are sent; `n` counts all requests of a load. */
export type RequestAt = (n: number) => string

export interface Load {
  /** How many connections ask at once, each for one answer after the other. */
  clients: number
  requests: number
}

/**
 * Asks a server over kept connections, without pipelining, and fails at the
 * first answer that is not 2xx.
 *
 * @returns requests a second
 */
export async function measure(port: number, { clients, requests }: Load, requestAt: RequestAt): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(port)))
  const started = performance.now()
  let next = 0
  await Promise.all(sockets.map((socket) => askAll(socket, () => (next < requests ? requestAt(next++) : undefined))))
  const seconds = (performance.now() - started) / 1_000
  for (const socket of sockets) socket.destroy()
  return requests / seconds
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

function askAll(socket: Socket, next: () => string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const ask = () => {
      const request = next()
      if (request === undefined) resolve()
      else socket.write(request)
    }
    let seen = ''
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed the connection.')))
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
      const head = seen.indexOf('\r\n\r\n')
      if (head === -1) return
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(seen)?.[1])
      if (seen.length < head + 4 + length) return
      if (!seen.startsWith('HTTP/1.1 2')) return reject(new Error(seen))
      seen = ''
      ask()
    })
    ask()
  })
}
