import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../helpers.ts'
import { runService, spawnService, startService } from './service.ts'

/** Listens on a loopback port, so that no other process can. */
async function occupy(t: TestContext, port = 0): Promise<number | undefined> {
  const server = createServer()
  const listening = once(server, 'listening').then(() => true)
  const taken = once(server, 'error').then(() => false)
  server.listen(port, '127.0.0.1')
  if (!(await Promise.race([listening, taken]))) return undefined
  t.after(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : undefined
}

test('a server starts, responds, and exits with 0 after SIGTERM', async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'new', 'data')
  const server = await startService(t, ['--data-dir', dataDir])
  const health = await fetch(`${server.url}/api/health`)
  assert.equal(health.status, 200)
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  assert.equal(statSync(path.join(dataDir, 'service.db')).mode & 0o777, 0o600)
  server.child.kill('SIGTERM')
  const { code, signal, err } = await server.ended
  assert.deepEqual([code, signal, err], [0, null, ''])
})

/** The Node that is installed on this machine, often older than the required version. */
const MACHINE_NODE = ['/usr/local/bin/node', '/usr/bin/node'].find((file) => existsSync(file)) ?? process.execPath

test('the launcher on the installed Node exits with the status of the program', async (t) => {
  const dataDir = temporaryFolder(t)
  const { child, ended } = spawnService(t, ['start', '--port', '0', '--data-dir', dataDir], {}, MACHINE_NODE)
  await once(child.stdout!, 'data')
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
  assert.equal((await spawnService(t, ['nonsense'], {}, MACHINE_NODE).ended).code, 2)
})

test('the banner names URL, data directory, mode and next step in at most eight lines', async (t) => {
  const dataDir = temporaryFolder(t)
  const { child, ended } = spawnService(t, ['start', '--port', '0', '--data-dir', dataDir])
  await once(child.stdout!, 'data')
  child.kill('SIGINT')
  const { out, code } = await ended
  assert.equal(code, 0)
  assert.ok(out.trimEnd().split('\n').length <= 8, out)
  for (const word of ['http://127.0.0.1:', dataDir, 'local_trusted', 'Next']) assert.ok(out.includes(word), out)
})

test('if the default port is in use the server selects the next free port, and the banner says so', async (t) => {
  await occupy(t, 3100)
  const { child, ended } = spawnService(t, ['start', '--data-dir', temporaryFolder(t)])
  await once(child.stdout!, 'data')
  child.kill('SIGTERM')
  const { out } = await ended
  assert.match(out, /http:\/\/127\.0\.0\.1:31\d\d \(port 3100 is busy\)/)
})

test('a requested port that is in use is an error', async (t) => {
  const port = await occupy(t)
  const { code, err } = await runService(t, ['start', '--port', String(port), '--data-dir', temporaryFolder(t)])
  assert.equal(code, 1)
  assert.match(err, new RegExp(`^service: Port ${port} of 127\\.0\\.0\\.1 is busy\\..*\\n$`))
})

test('a second server on a data directory exits with 75 and names the first server', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startService(t, ['--data-dir', dataDir])
  const { code, err } = await runService(t, ['start', '--port', '0', '--data-dir', dataDir])
  assert.equal(code, 75)
  assert.ok(err.includes(`pid ${first.pid}`) && err.includes(first.url), err)
  assert.equal(err.trimEnd().split('\n').length, 1)
})

test('a killed server does not prevent the next start', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startService(t, ['--data-dir', dataDir])
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  const second = await startService(t, ['--data-dir', dataDir])
  assert.equal((await fetch(`${second.url}/api/health`)).status, 200)
})

test('a data directory that cannot be created prints a one-line error', async (t) => {
  const file = path.join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  const { code, err } = await runService(t, ['start', '--data-dir', path.join(file, 'data')])
  assert.equal(code, 2)
  assert.match(err, /^service: .*ENOTDIR.*\n$/)
})

test('a data directory that is not writable is an error', {
  skip: process.getuid?.() === 0 && 'root may write in every folder',
}, async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o500 })
  const { code, err } = await runService(t, ['start', '--data-dir', dataDir])
  assert.equal(code, 2)
  assert.match(err, /EACCES/)
})

test('a database of a newer version is refused and not changed', async (t) => {
  const dataDir = temporaryFolder(t)
  const sqlite = new Database(path.join(dataDir, 'service.db'))
  sqlite.pragma('user_version = 999')
  sqlite.close()
  const { code, err } = await runService(t, ['start', '--port', '0', '--data-dir', dataDir])
  assert.equal(code, 1)
  assert.match(err, /^service: .*newer version of service \(schema 999.*\n$/)
})

test('a host that the network can reach is refused in local trusted mode', async (t) => {
  const { code, err } = await runService(t, ['start', '--host', '0.0.0.0', '--data-dir', temporaryFolder(t)])
  assert.equal(code, 2)
  assert.match(err, /loopback/)
})
