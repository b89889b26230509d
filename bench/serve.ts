/**
 * A separate server process for the benchmarks. It prints its port.
 * `bare <bytes>` responds to every request with a constant JSON of that size, on
 * plain node:http. `service <data dir>` runs this service.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readConfig } from '../src/platform/config.ts'
import { createLog } from '../src/platform/log.ts'
import { startServer } from '../src/server.ts'

const [kind, argument = ''] = process.argv.slice(2)

// The benchmark that started this process has ended.
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
  // After SIGTERM the process exits by itself, so that --cpu-prof can write its profile.
  process.once('SIGTERM', () => server.close().then(() => process.exit()))
}
