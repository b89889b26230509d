import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { DataDirTaken, lockDataDir } from '../../../src/platform/database/lock.ts'
import { readServerInfo } from '../../../src/platform/database/server-info.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'

/** Starts another process that locks the data directory and prints the result. It holds the lock until it is killed. */
async function lockInChild(t: TestContext, dataDir: string) {
  const lock = path.join(packageRoot(), 'src/platform/database/lock.ts')
  const program = `const { lockDataDir } = await import(${JSON.stringify(lock)})
    try { globalThis.held = lockDataDir(${JSON.stringify(dataDir)}); held.announce({ pid: process.pid, url: 'http://localhost:1', instance: null }); console.log('taken') }
    catch (error) { console.log(error.message); process.exit() }
    setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [output] = await once(child.stdout, 'data')
  return { child, output: String(output).trim() }
}

test('a second process cannot lock the data directory, and the error names the holder', async (t) => {
  const dataDir = temporaryFolder(t)
  const lock = lockDataDir(dataDir)
  t.after(() => lock.release())
  lock.announce({ pid: process.pid, url: 'http://localhost:3100', instance: null })
  const { output } = await lockInChild(t, dataDir)
  assert.match(output, new RegExp(`pid ${process.pid}, http://localhost:3100.*--data-dir`))
})

test('refuses a second lock in the same process, and the first lock stays valid', async (t) => {
  const dataDir = temporaryFolder(t)
  const lock = lockDataDir(dataDir)
  t.after(() => lock.release())
  assert.throws(() => lockDataDir(dataDir), DataDirTaken)
  assert.match((await lockInChild(t, dataDir)).output, /Another server/)
})

test('the lock is released immediately when its holder is killed', async (t) => {
  const dataDir = temporaryFolder(t)
  const { child, output } = await lockInChild(t, dataDir)
  assert.equal(output, 'taken')
  assert.equal(readServerInfo(dataDir)?.pid, child.pid)
  assert.throws(
    () => lockDataDir(dataDir),
    (error) =>
      error instanceof DataDirTaken && error.holder?.pid === child.pid && error.holder?.url === 'http://localhost:1',
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = lockDataDir(dataDir)
  assert.deepEqual(readServerInfo(dataDir), { pid: process.pid, url: null, instance: null })
  lock.release()
  assert.equal(readServerInfo(dataDir), undefined)
})

test('a damaged information file is treated as missing', (t) => {
  const dataDir = temporaryFolder(t)
  for (const text of ['', '{', '[]', '{"pid":"1"}', 'null']) {
    writeFileSync(path.join(dataDir, 'server.json'), text)
    assert.equal(readServerInfo(dataDir), undefined, text)
  }
})

test('invalid data in the lock file does not prevent the lock', async (t) => {
  const dataDir = temporaryFolder(t)
  writeFileSync(path.join(dataDir, 'server.lock'), 'garbage\n'.repeat(200))
  const lock = lockDataDir(dataDir)
  t.after(() => lock.release())
  assert.match((await lockInChild(t, dataDir)).output, new RegExp(`pid ${process.pid}`))
})
