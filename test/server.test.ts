import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../src/platform/config.ts'
import { DataDirTaken, lockDataDir } from '../src/platform/database/lock.ts'
import { readServerInfo } from '../src/platform/database/server-info.ts'
import { createLog } from '../src/platform/log.ts'
import { startServer } from '../src/server.ts'
import { temporaryFolder } from './helpers.ts'
import { exchange, startTestServer } from './server.ts'

const silent = createLog(() => {})

/** A port that something else listens on. */
async function busyPort(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as { port: number }).port }
}

test('a server says where it is, and gives the directory back when it stops', async (t) => {
  const { server, dataDir } = await startTestServer(t)
  assert.deepEqual(readServerInfo(dataDir), { pid: process.pid, url: server.url, instance: server.ctx.config.instance })
  assert.equal((await fetch(`${server.url}/api/health`)).status, 200)
  await assert.rejects(startServer(readConfig({ dataDir, port: '0' }, {}), silent), DataDirTaken)
  await Promise.all([server.close(), server.close()])
  await server.close()
  assert.equal(readServerInfo(dataDir), undefined)
  await assert.rejects(fetch(`${server.url}/api/health`))
  lockDataDir(dataDir).release()
  assert.ok(!readdirSync(dataDir).some((name) => name.endsWith('-wal')), 'the WAL is in the database')
})

test('what is written before a stop is there after the next start', async (t) => {
  const { server, dataDir } = await startTestServer(t)
  const init = { method: 'POST', body: '{"name":"Acme"}', headers: { 'content-type': 'application/json' } }
  const company = await (await fetch(`${server.url}/api/companies`, init)).json()
  await server.close()
  const next = await startServer(readConfig({ dataDir, port: '0' }, {}), silent)
  t.after(() => next.close())
  assert.deepEqual(await (await fetch(`${next.url}/api/companies`)).json(), [company])
  await next.close()
})

test('under the umask of the program everything is for its owner alone', async (t) => {
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const dataDir = path.join(temporaryFolder(t), 'made', 'here')
  const server = await startServer(readConfig({ dataDir, port: '0' }, {}), silent)
  t.after(() => server.close())
  await server.ctx.write(() => {})
  const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true })
  assert.ok(entries.length >= 5)
  for (const entry of entries) {
    const mode = statSync(path.join(entry.parentPath, entry.name)).mode & 0o777
    assert.equal(mode, entry.isDirectory() ? 0o700 : 0o600, entry.name)
  }
  for (const folder of [dataDir, path.dirname(dataDir)]) assert.equal(statSync(folder).mode & 0o777, 0o700)
  await server.close()
})

test('a port that was asked for and is busy is an error, and nothing is left open', async (t) => {
  const dataDir = temporaryFolder(t)
  const { server, port } = await busyPort()
  t.after(() => server.close())
  await assert.rejects(startServer(readConfig({ dataDir, port: String(port) }, {}), silent), { code: 'conflict' })
  lockDataDir(dataDir).release()
})

test('a default port that is busy gives way to the next', async (t) => {
  const dataDir = temporaryFolder(t)
  const { server, port } = await busyPort()
  t.after(() => server.close())
  const running = await startServer({ ...readConfig({ dataDir }, {}), port }, silent)
  t.after(() => running.close())
  assert.ok(Number(new URL(running.url).port) > port)
  await running.close()
})

test('a start that fails in the middle frees the directory', async (t) => {
  const dataDir = temporaryFolder(t)
  writeFileSync(path.join(dataDir, 'service.db'), 'no database at all'.repeat(100))
  await assert.rejects(startServer(readConfig({ dataDir, port: '0' }, {}), silent), /another program/)
  rmSync(path.join(dataDir, 'service.db'))
  const server = await startServer(readConfig({ dataDir, port: '0' }, {}), silent)
  await server.close()
})

test('a stop answers what is under way', async (t) => {
  const { server, port } = await startTestServer(t)
  const body = '{"name":"Acme"}'
  const head = `POST /api/companies HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const socket = connect(port, '127.0.0.1')
  socket.write(head)
  const reached = once(socket, 'connect')
  await reached
  // Once this is answered, the server has read the head that came before it.
  await (await fetch(`${server.url}/api/health`)).text()
  const closed = server.close()
  socket.write(body)
  const [reply] = await once(socket, 'data')
  assert.match(String(reply), /^HTTP\/1\.1 201 /)
  await closed
})

test('idle kept connections do not delay a stop', async (t) => {
  const { server } = await startTestServer(t)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const [response] = await once(get(`${server.url}/api/health`, { agent }), 'response')
  response.resume()
  await once(response, 'end')
  const started = performance.now()
  await server.close()
  assert.ok(performance.now() - started < 300)
})

test('a client that hangs delays a stop by a second at most', async (t) => {
  const { server, port } = await startTestServer(t)
  const hanging = exchange(
    port,
    `POST /api/companies HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{`,
  )
  await (await fetch(`${server.url}/api/health`)).text()
  const started = performance.now()
  await server.close()
  const took = performance.now() - started
  assert.ok(took > 800 && took < 1_500, `${took} ms`)
  await hanging.catch(() => {})
})

test('local trusted mode does not listen beyond this machine', () => {
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org', '127.0.0.1.example.org']) {
    assert.throws(() => readConfig({ host, dataDir: '/nowhere' }, {}), /only on loopback/, host)
  }
  assert.equal(readConfig({ host: '[::1]', dataDir: '/nowhere' }, {}).host, '::1')
})

test('a data directory that other users can read is closed to them', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o755 })
  const config = { ...readConfig({ dataDir, port: '0' }, {}), selfCheck: true }
  await (await startServer(config, silent)).close()
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  chmodSync(dataDir, 0o755)
  await (await startServer(config, silent)).close()
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
})

test('a data directory of another user is refused, also for root', {
  skip: process.getuid?.() !== 0 && 'Only root can give a folder to another user.',
}, async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, 65_534, 65_534)
  const starting = startServer({ ...readConfig({ dataDir, port: '0' }, {}), selfCheck: true }, silent)
  await assert.rejects(starting, /belongs to another user/)
})

test('a folder with other files that other users can read is refused as data directory', async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'shared')
  mkdirSync(dataDir, { mode: 0o755 })
  writeFileSync(path.join(dataDir, 'notes.txt'), 'Mine.')
  const starting = startServer({ ...readConfig({ dataDir, port: '0' }, {}), selfCheck: true }, silent)
  await assert.rejects(starting, /can be read by other users and contains other files/)
  assert.deepEqual(readdirSync(dataDir), ['notes.txt'])
})
