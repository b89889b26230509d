/**
 * Holds many slow and broken connections open: `npm run prove:slow [-- factor=1]`.
 *
 * 500 clients send their headers slowly, 200 their body, 200 read event streams
 * slowly, and 20,000 streams are aborted, at the same time. The server must
 * respond to its health check within 100 ms (99th percentile), and must have no
 * more file descriptors afterwards than before.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../bench/process.ts'
import { seed } from '../../bench/seed.ts'

export interface SlowReport {
  /** The 99th percentile of the response time of the health check, in milliseconds. */
  healthMs: number
  checks: number
  /** File descriptors that are open at the end but not at the beginning. */
  leaked: number
}

const CLIENTS = { slowHeaders: 500, slowBodies: 200, slowReaders: 200, tornStreams: 20_000 }
const TORN_AT_ONCE = 20

export async function holdConnections(factor: number): Promise<SlowReport> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-slow-'))
  const { companyId, issueIds } = seed(dataDir, 100)
  const server = await serve('service', dataDir)
  const host = `Host: 127.0.0.1:${server.port}\r\n`
  const open: Socket[] = []
  const connectWith = (text: string): Socket => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text))
    socket.on('error', () => {})
    return socket
  }
  const many = (count: number, text: string) =>
    Array.from({ length: Math.ceil(count * factor) }, () => open.push(connectWith(text)))
  const stream = `GET /api/companies/${companyId}/events HTTP/1.1\r\n${host}\r\n`
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
  const before = descriptors()
  const times: number[] = []
  let torn = false
  try {
    many(CLIENTS.slowHeaders, `GET /api/health HTTP/1.1\r\n${host}X-Slow: `)
    const body = `${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
    many(CLIENTS.slowBodies, `POST /api/issues/${issueIds[0]}/comments HTTP/1.1\r\n${body}`)
    many(CLIENTS.slowReaders, stream)
    for (const socket of open.slice(-Math.ceil(CLIENTS.slowReaders * factor))) socket.pause()
    // Occasional bytes keep the slow clients within the limits of the server.
    const drip = setInterval(() => {
      for (const socket of open) if (socket.writable && !socket.isPaused()) socket.write('x')
    }, 1_000)
    const tearing = abortStreams(Math.ceil(CLIENTS.tornStreams * factor), () => connectWith(stream)).then(() => {
      torn = true
    })
    while (!torn) {
      const began = performance.now()
      const response = await fetch(`http://127.0.0.1:${server.port}/api/health`)
      await response.arrayBuffer()
      times.push(performance.now() - began)
      await delay(5)
    }
    clearInterval(drip)
    await tearing
    for (const socket of open) socket.destroy()
    for (const deadline = Date.now() + 10_000; descriptors() > before + 1 && Date.now() < deadline; ) await delay(100)
    // The connection of the health checks is kept alive.
    const leaked = Math.max(0, descriptors() - before - 1)
    const healthMs = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
    return { healthMs, checks: times.length, leaked }
  } finally {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function abortStreams(count: number, openOne: () => Socket): Promise<void> {
  for (let done = 0; done < count; done += TORN_AT_ONCE) {
    await Promise.all(
      Array.from(
        { length: Math.min(TORN_AT_ONCE, count - done) },
        () =>
          new Promise<void>((resolve) => {
            const socket = openOne()
            socket.once('data', () => socket.resetAndDestroy())
            socket.once('close', () => resolve())
          }),
      ),
    )
  }
}

if (import.meta.main) {
  const [factor = 1] = process.argv.slice(2).map(Number)
  const { healthMs, checks, leaked } = await holdConnections(factor)
  process.stdout.write(
    `health: ${healthMs.toFixed(1)} ms at the 99th percentile of ${checks}; ${leaked} descriptors leaked\n`,
  )
  process.exitCode = healthMs <= 100 && leaked === 0 ? 0 : 1
}
