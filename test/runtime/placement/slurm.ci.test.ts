import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killServers, loseNode, type SlurmReport, stopRuns } from '../../chaos/slurm.ts'
import { hasSlurm } from './cluster.ts'
import { createSlurmWorld, type Json } from './slurm-world.ts'

const skip = hasSlurm() ? false : 'needs Slurm, munge and root'

test('a probe job reports that the nodes meet all requirements, and a waiting run reports the reason until it is stopped', {
  skip,
}, async (t) => {
  const slots = 4
  const world = await createSlurmWorld(slots / 2)
  t.after(world.close)
  const tested = await world.request('POST', '/api/placements/cluster/test')
  assert.deepEqual(
    tested.checks.filter((check: Json) => !check.ok),
    [],
  )
  const agents = []
  for (let i = 0; i < slots + 2; i++) agents.push(await world.addAgent(`agent-${i}`, 'sleep 60'))
  for (const agentId of agents) await world.wake(agentId)
  const waits = (run: Json) => /^\d+ ahead of it in the queue of partition main/.test(run.waitingBecause ?? '')
  const waiting = await world.until(async () => (await world.runs()).find(waits), 'no run waits')
  assert.equal(waiting.status, 'starting')
  const begun = performance.now()
  for (const agentId of agents) await world.request('POST', `/api/agents/${agentId}/pause`, {})
  await world.until(async () => (await world.runs()).every((run) => run.finishedAt !== null), 'a run was not stopped')
  const ms = performance.now() - begun
  assert.ok(ms < 15_000, `${ms} ms`)
  await world.until(async () => world.jobs('PENDING,RUNNING').length === 0, 'a job is left')
})

for (const [title, prove] of [
  [
    'after a node failure its runs are lost and retried once, with one valid token at a time, and every cost is recorded',
    () => loseNode(6),
  ],
  [
    'after kills of the server no run is lost, no run starts twice, and every cost is recorded',
    () => killServers(10, 3),
  ],
  ['a stop and a spent budget end the program of a run within its grace period and five seconds', () => stopRuns(4)],
] as [string, () => Promise<SlurmReport>][]) {
  test(title, { skip }, async () => {
    const { measured, broken } = await prove()
    assert.deepEqual(broken, [], JSON.stringify(measured))
  })
}
