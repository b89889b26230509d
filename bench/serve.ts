/**
 * A server as a process of its own, for the benchmarks: prints its port.
 * `bare <bytes>` answers everything with a constant JSON of that size, on
 * nothing but node:http; `service <data dir>` is ours.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readConfig } from '../src/platform/config.ts'
import { createLog } from '../src/platform/log.ts'
import { startServer } from '../src/server.ts'

const [kind, argument = ''] = process.argv.slice(2)

// The benchmark that started it is gone, however that came.
process.stdin.resume().on('end', () => process.exit())

if (kind === 'bare') {
  const body = JSON.stringify('x'.repeat(Number(argument) - 2))
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, headers).end(body))
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
} else {
  const log = createLog((line) => process.stderr.write(line))
  const server = await startServer(readConfig({ dataDir: argument, port: '0' }, { PATH: process.env.PATH }), log)
  process.stdout.write(`${new URL(server.url).port}\n`)
  // With SIGTERM the process ends by itself, so that --cpu-prof can write what it saw.
  process.once('SIGTERM', () => server.close().then(() => process.exit()))
}
