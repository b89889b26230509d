import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { type Config, readConfig } from '../src/platform/config.ts'
import { createLog } from '../src/platform/log.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import type { Canaries } from './canary/canaries.ts'
import { watchWire } from './canary/wire.ts'
import { createTestFolder, watch } from './helpers.ts'

export interface TestServer {
  server: RunningServer
  port: number
  dataDir: string
  logged: string[]
  canaries: Canaries
}

/** Starts the real server on a free port with a new data directory. Closes it after the test. */
export async function startTestServer(t: TestContext, overrides: Partial<Config> = {}): Promise<TestServer> {
  const { folder, canaries, closing } = createTestFolder(t)
  const logged: string[] = []
  const config = { ...readConfig({ dataDir: folder, port: '0' }, {}), selfCheck: true, ...overrides }
  const server = await startServer(
    config,
    createLog((line) => logged.push(line)),
  )
  const port = Number(new URL(server.url).port)
  const { dataDir } = config
  watch({ ...server.ctx, tokens: server.tokens }, canaries)
  const search = () => {
    canaries.search('the log', logged.join(''))
    canaries.searchFolder(dataDir)
  }
  // Also before the close, which deletes the WAL.
  closing.push(search, watchWire(port, canaries), () => server.close(), search)
  return { server, port, dataDir, logged, canaries }
}

/** A response as received over the socket. */
export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

/** Sends bytes over a new socket, and reads the responses until the server closes it. */
export function exchange(port: number, bytes: string | Buffer): Promise<RawResponse[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? undefined : reject(error)))
    socket.on('close', () => resolve(parseResponses(Buffer.concat(chunks).toString('latin1'))))
  })
}

/** Formats the header lines of a request with `Connection: close`. */
export const lines = (...parts: string[]) => `${[...parts, 'Connection: close'].join('\r\n')}\r\n\r\n`

function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = []
  for (const part of text.split(/(?=HTTP\/1\.1 \d{3} )/)) {
    const [head = '', ...rest] = part.split('\r\n\r\n')
    const [first = '', ...fields] = head.split('\r\n')
    const status = Number(first.split(' ')[1])
    if (!status) continue
    const headers = new Headers()
    for (const field of fields) {
      const colon = field.indexOf(':')
      headers.append(field.slice(0, colon), field.slice(colon + 1).trim())
    }
    responses.push({ status, headers, body: rest.join('\r\n\r\n') })
  }
  return responses
}
