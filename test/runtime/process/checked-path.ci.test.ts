import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { findBubblewrap } from '../../../src/runtime/isolation/bubblewrap.ts'
import { sandboxArgv } from '../../../src/runtime/isolation/sandbox.ts'
import type { RunSpec } from '../../../src/runtime/process/run-files.ts'
import { logOf, specOf, start } from './runs.ts'

const found = await findBubblewrap('')

const RUNS = 20

/** Replaces the folder `work` by a link and back, as fast as it can. */
const SWAP = `const { renameSync: move } = require('node:fs')
for (;;) { move('work', 'folder'); move('link', 'work'); move('work', 'link'); move('folder', 'work') }`

/** Creates the folder `work` that a program replaces by a link to `secret` again and again. */
async function swapFolder(t: TestContext): Promise<string> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'service-swap-')))
  for (const name of ['work', 'secret']) mkdirSync(path.join(folder, name))
  writeFileSync(path.join(folder, 'secret/file'), 'not for agents')
  symlinkSync(path.join(folder, 'secret'), path.join(folder, 'link'))
  const swapper = spawn(process.execPath, ['-e', SWAP], { cwd: folder, stdio: 'ignore' })
  t.after(async () => {
    swapper.kill('SIGKILL')
    await once(swapper, 'exit')
    rmSync(folder, { recursive: true })
  })
  await once(swapper, 'spawn')
  return path.join(folder, 'work')
}

/** Starts runs while the folder is replaced, and counts their outcomes. */
async function race(t: TestContext, changes: (work: string) => Partial<RunSpec>) {
  const work = await swapFolder(t)
  const counts = { entered: 0, refused: 0 }
  for (let i = 0; i < RUNS; i++) {
    const script = 'echo "in $(pwd -P)"; cat file'
    const spec = { command: '/bin/sh', args: ['-c', script], cwd: work, ...changes(work) }
    const run = await start(t, specOf('', [], spec))
    const { reason, exitCode } = await run.ended
    const log = logOf(run.runDir)
    assert.doesNotMatch(log, /not for agents/)
    if (/^in /m.test(log)) counts.entered++
    else if (reason === 'spawn_failed' || exitCode !== 0) counts.refused++
  }
  t.diagnostic(JSON.stringify(counts))
  assert.equal(counts.entered + counts.refused, RUNS)
  assert.ok(counts.refused > 0, 'the folder was replaced during at least one start')
}

test('a run never enters a link that replaces its directory again and again', (t) =>
  race(t, (work) => ({ realCwd: work })))

test(
  'a sandbox never contains what a link that replaces its directory again and again leads to',
  {
    skip: 'missing' in found ? found.missing : !found.bindsDescriptors && 'This bubblewrap cannot bind descriptors.',
  },
  (t) =>
    race(t, (work) => {
      assert.ok('path' in found)
      const { argv, opens } = sandboxArgv(found, {
        dataDir: '/nonexistent-data',
        stateDir: '/nonexistent-data/state',
        cwd: work,
        writable: [work],
        guarded: [],
        readable: [],
        programFiles: [],
        filter: null,
        userFiles: { login: [], sessions: [] },
        env: { HOME: '/nonexistent-home' },
      })
      return { wrapper: argv, opens: opens.map((file) => ({ path: file, real: file })) }
    }),
)
