import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { followLines, readLastLines } from '../../../src/clients/cli/log-tail.ts'
import { createLog } from '../../../src/platform/log.ts'
import { logFile, openLogFile } from '../../../src/platform/log-file.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runService, spawnService, startService } from './service.ts'

test('the log of a stopped server can be printed as text and as JSON', async (t) => {
  const dataDir = temporaryFolder(t)
  assert.equal((await runService(t, ['logs', '--data-dir', dataDir])).code, 5)
  const { url } = await startService(t, ['--data-dir', dataDir])
  await runService(t, ['stop', '--data-dir', dataDir])
  const { code, out } = await runService(t, ['logs', '--data-dir', dataDir, '--json'])
  const entries = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([code, entries[0].level, entries[0].url], [0, 'info', url])
  assert.equal(entries.at(-1).msg, 'The server has stopped.')
  const last = await runService(t, ['logs', '--data-dir', dataDir, '-n', '1'])
  assert.match(last.out, /^\S+ info The server has stopped\. .*\n$/)
  assert.equal(statSync(logFile(dataDir)).mode & 0o777, 0o600)
})

test('logs --follow prints the last lines and then new lines', async (t) => {
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

test('the log is limited to its number of files, and the oldest file is overwritten', (t) => {
  const file = path.join(temporaryFolder(t), 'logs', 'service.log')
  const write = openLogFile(file, 2)
  for (let i = 0; i < 20; i++) write(`${'x'.repeat(1024 * 1024 - 1)}\n`)
  assert.ok(existsSync(`${file}.1`))
  assert.ok(!existsSync(`${file}.2`))
  assert.ok(statSync(file).size + statSync(`${file}.1`).size < 13 * 1024 * 1024)
})

const noLines = (t: TestContext) => path.join(temporaryFolder(t), 'service.log')

test('the last lines of a level are read also from rotated files', (t) => {
  const file = noLines(t)
  assert.equal(
    readLastLines(file, 5, () => true),
    undefined,
  )
  writeFileSync(`${file}.2`, 'one\ntwo\n')
  writeFileSync(`${file}.1`, 'three\nfour\n')
  writeFileSync(file, 'five\n')
  assert.deepEqual(readLastLines(file, 4, () => true)!.lines, ['two', 'three', 'four', 'five'])
  assert.deepEqual(readLastLines(file, 2, (line) => line.includes('o'))!.lines, ['two', 'four'])
  assert.deepEqual(readLastLines(file, 0, () => true)!.lines, [])
})

test('following a log across a rotation loses no line', async (t) => {
  const file = noLines(t)
  writeFileSync(file, 'one\n')
  const { end } = readLastLines(file, 1, () => true)!
  const lines: string[] = []
  await new Promise<void>((resolve) => {
    const watcher = followLines(file, end, (line) => {
      lines.push(line)
      if (line === 'four') resolve()
    })
    t.after(() => watcher.close())
    appendFileSync(file, 'two\nthree\n')
    renameSync(file, `${file}.1`)
    writeFileSync(file, 'four\n')
  })
  assert.deepEqual(lines, ['two', 'three', 'four'])
})

test('entries below the log level are dropped', () => {
  const written: string[] = []
  const log = createLog((line) => written.push(line), { level: 'warn', now: () => new Date(0) })
  log.debug('One.')
  log.info('Two.')
  log.warn('Three.', { runId: 'r' })
  assert.deepEqual(written, ['{"level":"warn","time":"1970-01-01T00:00:00.000Z","runId":"r","msg":"Three."}\n'])
  assert.deepEqual([log.isEnabled('info'), log.isEnabled('error')], [false, true])
})

test('the server log uses the level of --log-level, and contains the request id of each response', async (t) => {
  const dataDir = temporaryFolder(t)
  const at = ['--data-dir', dataDir]
  const { url } = await startService(t, [...at, '--log-level', 'debug'])
  const response = await fetch(`${url}/api/companies/none`)
  await runService(t, ['stop', ...at])
  const { out } = await runService(t, ['logs', '--json', ...at])
  const requests = out.split('\n').filter((line) => line.includes(response.headers.get('x-request-id')!))
  const { level, route, status, msg } = JSON.parse(requests[0]!)
  assert.deepEqual([level, route, status, msg], ['debug', 'companies.get', 404, 'GET /api/companies/:companyId 404'])
  assert.equal((await runService(t, ['logs', '--level', 'error', ...at])).out, '')
})
