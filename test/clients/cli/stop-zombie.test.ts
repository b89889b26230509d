import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { temporaryFolder } from '../../helpers.ts'
import { environment, LAUNCHER, runService } from './service.ts'

test('`service stop` does not wait for a server that has ended as a zombie', async (t) => {
  const dataDir = temporaryFolder(t)
  // The shell becomes `sleep`, which never waits for its child.
  const command = `"${process.execPath}" "${LAUNCHER}" start --json --port 0 --data-dir "${dataDir}" & exec sleep 300`
  const parent = spawn('/bin/sh', ['-c', command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment(),
    detached: true,
  })
  t.after(() => process.kill(-parent.pid!, 'SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const { pid } = JSON.parse(String(line))
  const stopped = await runService(t, ['stop', '--json', '--data-dir', dataDir, '--timeout', '20'])
  assert.deepEqual([stopped.code, JSON.parse(stopped.out).pid], [0, pid])
})
