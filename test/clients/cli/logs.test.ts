import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { logFile, openLogFile } from '../../../src/platform/log-file.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runService, spawnService, startService } from './service.ts'

test("a server's log is there when the server is gone, as text and as JSON", async (t) => {
  const dataDir = temporaryFolder(t)
  assert.equal((await runService(t, ['logs', '--data-dir', dataDir])).code, 5)
  const { url } = await startService(t, ['--data-dir', dataDir])
  await runService(t, ['stop', '--data-dir', dataDir])
  const { code, out } = await runService(t, ['logs', '--data-dir', dataDir, '--json'])
  const entries = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([code, entries[0].level, entries[0].details.url], [0, 'info', url])
  assert.equal(entries.at(-1).message, 'The server has stopped.')
  const last = await runService(t, ['logs', '--data-dir', dataDir, '-n', '1'])
  assert.match(last.out, /^\S+ info The server has stopped\. .*\n$/)
  assert.equal(statSync(logFile(dataDir)).mode & 0o777, 0o600)
})

test('a log is followed while it grows, from the last lines on', async (t) => {
  const dataDir = temporaryFolder(t)
  mkdirSync(path.dirname(logFile(dataDir)))
  writeFileSync(logFile(dataDir), 'one\ntwo\n')
  const { child } = spawnService(t, ['logs', '-f', '-n', '1', '--data-dir', dataDir])
  let out = ''
  await new Promise<void>((resolve) => {
    child.stdout!.on('data', (chunk) => {
      if (out === '') appendFileSync(logFile(dataDir), 'three\n')
      out += chunk
      if (out.includes('three')) resolve()
    })
  })
  assert.equal(out, 'two\nthree\n')
})

test('a log takes no more than two files of its size', (t) => {
  const file = path.join(temporaryFolder(t), 'logs', 'service.log')
  const write = openLogFile(file)
  for (let i = 0; i < 20; i++) write(`${'x'.repeat(1024 * 1024 - 1)}\n`)
  assert.ok(existsSync(`${file}.1`))
  assert.ok(statSync(file).size + statSync(`${file}.1`).size < 13 * 1024 * 1024)
})
