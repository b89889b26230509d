import assert from 'node:assert/strict'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { openChecked } from '../../../src/runtime/process/checked-path.ts'
import { logOf, specOf, start } from './runs.ts'

/** Creates a folder `work` beside a folder `secret`, and returns a function that replaces `work` by a link to `secret`. */
function arrange(t: TestContext) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'service-checked-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const [work, secret] = [path.join(folder, 'work'), path.join(folder, 'secret')]
  for (const each of [work, secret]) mkdirSync(each)
  writeFileSync(path.join(secret, 'file'), 'not for agents')
  const swap = () => {
    renameSync(work, `${work}.old`)
    symlinkSync(secret, work)
  }
  return { work, swap }
}

const printFolder = (changes: object) => specOf('', [], { command: '/bin/sh', args: ['-c', 'pwd -P; ls'], ...changes })

test('a run starts in the directory that the server checked', async (t) => {
  const { work } = arrange(t)
  writeFileSync(path.join(work, 'mine'), '')
  const run = await start(t, printFolder({ cwd: work, realCwd: work }))
  assert.equal((await run.ended).exitCode, 0)
  assert.equal(logOf(run.runDir), `${work}\nmine\n`)
})

test('a run does not start in a directory that was replaced by a link after the check', async (t) => {
  const { work, swap } = arrange(t)
  swap()
  const run = await start(t, printFolder({ cwd: work, realCwd: work }))
  const { reason, error } = await run.ended
  assert.deepEqual([reason, error?.code], ['spawn_failed', 'ECHANGED'])
  assert.match(error?.message ?? '', /no longer leads to the place that the server checked/)
  assert.equal(logOf(run.runDir), '')
})

test('a replaced or removed path is not passed to the sandbox', (t) => {
  const { work, swap } = arrange(t)
  closeSync(openChecked({ path: work, real: work }))
  swap()
  assert.throws(() => openChecked({ path: work, real: work }), { code: 'ECHANGED' })
  assert.throws(() => openChecked({ path: `${work}/gone`, real: `${work}/gone` }), {
    code: 'ECHANGED',
    message: /ENOENT/,
  })
})
