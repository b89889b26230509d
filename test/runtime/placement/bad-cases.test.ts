import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { checksOf } from '../../../src/runtime/placement/checks.ts'
import { writeClaim } from '../../../src/runtime/placement/claim-file.ts'
import { runFolder } from '../../../src/runtime/process/run-files.ts'
import { insertRunRow } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

/** Creates an agent in a Slurm placement whose commands are small scripts, wakes it, and returns the end of its run. */
async function runWith(
  t: TestContext,
  commands: Record<string, string>,
  more: { during?: (world: TestRuns) => Promise<unknown> } = {},
) {
  const world = await createTestRuns(t, { environment: { PATH: `${process.env.PATH}` } })
  const bin = path.join(world.config.dataDir, 'bin')
  mkdirSync(bin)
  const scripts = { sbatch: 'echo 7', squeue: '', scontrol: 'exit 1', scancel: 'exit 0', ...commands }
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n[ -t 0 ] || cat > /dev/null\n${script}\n`, { mode: 0o755 })
  }
  world.config.environment.PATH = `${bin}:${process.env.PATH}`
  const settings = { publicUrl: 'http://127.0.0.1:1' }
  await world.make('POST', '/api/placements', { name: 'farm', type: 'slurm', settings })
  const agent = await world.make('POST', `/api/companies/${world.companyId}/agents`, {
    name: 'A',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
    runtimeConfig: { placement: 'farm' },
  })
  await world.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`, {})
  await world.tick()
  await more.during?.(world)
  await world.executor.idle()
  const [run] = await world.runs()
  return run
}

const job = (state: string, node = '') => ({ squeue: `echo '7|${state}|None|main|1|${node}'` })
const exit = (code: number) => ({ ...job('FAILED', 'n1'), scontrol: `echo 'JobId=7 ExitCode=${code}:0'` })

for (const [title, commands, sentence] of [
  [
    'the controller is unreachable',
    { sbatch: 'echo "sbatch: error: Unable to contact slurm controller" >&2; exit 1' },
    /controller of the cluster cannot be reached/,
  ],
  [
    'a quota is exceeded',
    { sbatch: 'echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1' },
    /because of its limits or quotas: .*QOSMaxSubmit/,
  ],
  ['the commands are not installed', { sbatch: 'exit 127' }, /sbatch failed/],
  ['the output of sbatch has no id', { sbatch: 'echo' }, /sbatch printed no job id/],
  ['the API cannot be reached from the node', exit(69), /the API could not be reached from its machine/],
  ['the disk of the node is full', exit(73), /disk is full or over its quota/],
  ['Node is too old', exit(78), /older than version 22/],
  ['Node is missing', exit(127), /Node program was not found there/],
  ['the job is preempted', job('PREEMPTED'), /preempted by another one/],
  ['the node fails', job('NODE_FAIL', 'n2'), /its node n2 failed/],
  ['the job uses too much memory', job('OUT_OF_MEMORY'), /more memory than it requested/],
  ['the job reaches its time limit', job('TIMEOUT'), /time limit in the cluster/],
  ['the job is cancelled in the cluster', job('CANCELLED'), /cancelled in the cluster/],
  [
    'the controller has forgotten the job',
    { scontrol: 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1' },
    /no longer has the job/,
  ],
] as [string, Record<string, string>, RegExp][]) {
  test(`if ${title}, the run says so`, async (t) => {
    const run = await runWith(t, commands)
    assert.equal(run.status, 'failed')
    assert.equal(run.errorCode, 'placement_unavailable')
    assert.match(run.error, sentence)
    assert.match(run.error, /farm/, 'it names the placement')
  })
}

test('an empty queue of the cluster does not end a run', async (t) => {
  // The first look finds nothing although the job lives; the second one finds its end.
  const squeue = 'f=$(dirname "$0")/looked; [ -e "$f" ] && echo "7|PREEMPTED|None|main|1|"; : > "$f"'
  const run = await runWith(t, { squeue, scontrol: 'echo JobId=7' })
  assert.match(run.error, /preempted/)
})

test('if a placement is removed while it is in use, the run ends with that reason', async (t) => {
  const run = await runWith(t, job('PENDING'), {
    async during({ request, runs }) {
      while ((await runs())[0].waitingBecause === null) await delay(5)
      assert.equal((await request('DELETE', '/api/placements/farm')).status, 409)
      assert.equal((await request('DELETE', '/api/placements/farm?force=true')).status, 200)
    },
  })
  assert.match(run.error, /The placement farm was removed while the run was in it/)
})

test('a run whose placement was removed while the server was down ends as lost', async (t) => {
  const { ctx, executor, companyId, make, runs } = await createTestRuns(t)
  const agent = await make('POST', `/api/companies/${companyId}/agents`, {
    name: 'A',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
  })
  const id = insertRunRow(ctx, agent, { placement: 'farm', job_id: '7' })
  mkdirSync(runFolder(ctx.config, id), { recursive: true })
  writeClaim(runFolder(ctx.config, id), { instance: id, node: 'n1' })
  executor.reconcile()
  await executor.idle()
  const [run] = await runs()
  assert.deepEqual([run.status, run.errorCode], ['lost', 'lost'])
  assert.match(run.error, /could not be continued after the restart of the server: The placement farm no longer exists/)
})

test('a probe reports each missing requirement of a machine', () => {
  const found = {
    node: '20.1.0',
    hostname: 'n1',
    clock: '2026-11-22T10:02:00.000Z',
    folderError: 'EACCES: permission denied',
    freeBytes: 0,
    git: false,
    apiError: 'connect ECONNREFUSED',
  }
  const checks = checksOf({ now: '2026-11-22T10:00:00.000Z' }, found, 'https://board.example')
  const messageOf = Object.fromEntries(checks.map(({ name, ok, message }) => [name, ok ? 'ok' : message]))
  assert.match(messageOf.clock!, /differ by 120 seconds/)
  assert.match(messageOf.node!, /needs 22 or newer/)
  assert.match(messageOf.api!, /cannot reach https:\/\/board.example: connect ECONNREFUSED/)
  assert.match(messageOf.folder!, /permission denied/)
  assert.match(messageOf.git!, /git is not installed/)
})
