import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

/** Writes a program that creates a file when it is started. */
function writeWitness(runs: TestRuns) {
  const witness = path.join(runs.config.dataDir, 'witness')
  const command = path.join(runs.config.dataDir, 'work', 'program.sh')
  writeFileSync(command, `#!/bin/sh\necho "$@" >> '${witness}'\n`, { mode: 0o755 })
  return { command, wasStarted: () => existsSync(witness) }
}

function insertManager(runs: TestRuns) {
  const ceo = insertAgent(runs, { company_id: runs.companyId, role: 'ceo' })
  insertAgent(runs, { company_id: runs.companyId, reports_to: ceo.id })
  return ceo
}

const hire = async (runs: TestRuns, boss: ReturnType<typeof insertManager>, adapterConfig: object) =>
  (await boss.request('POST', `/api/companies/${runs.companyId}/agent-hires`, { name: 'Newbie', adapterConfig })).body

for (const decision of [null, 'reject'] as const) {
  test(`a rehearsal does not start the program of a hire that the board has ${decision ? 'rejected' : 'not decided'}, and reports this`, async (t) => {
    const runs = await createTestRuns(t)
    const ceo = insertManager(runs)
    const { command, wasStarted } = writeWitness(runs)
    const { agent, approval } = await hire(runs, ceo, { command })
    assert.equal(agent.status, 'pending_approval')
    if (decision) await runs.make('POST', `/api/approvals/${approval.id}/${decision}`)
    for (const request of [ceo.request, runs.request]) {
      const { status, body } = await request('POST', `/api/agents/${agent.id}/rehearse`)
      assert.equal(status, 200)
      assert.match(body.notes.join(' '), /did not examine the program: the board has not approved/)
      assert.equal(body.wouldRun, false)
    }
    assert.equal(wasStarted(), false)
  })
}

test('a rehearsal by an agent starts no program, and one by the board does so only after approval', async (t) => {
  const runs = await createTestRuns(t)
  const ceo = insertManager(runs)
  const { command, wasStarted } = writeWitness(runs)
  const { agent, approval } = await hire(runs, ceo, { command })
  await runs.make('POST', `/api/approvals/${approval.id}/approve`)
  const { body } = await ceo.request('POST', `/api/agents/${agent.id}/rehearse`)
  assert.match(body.notes.join(' '), /did not examine the program/)
  assert.equal(wasStarted(), false)
  const byBoard = await runs.make('POST', `/api/agents/${agent.id}/rehearse`)
  assert.deepEqual(byBoard.notes, [])
  assert.equal(wasStarted(), true)
})

test('only the board can see the contents of a file in a rehearsal', async (t) => {
  const runs = await createTestRuns(t)
  const ceo = insertManager(runs)
  const instructions = path.join(runs.config.dataDir, 'work', 'AGENTS.md')
  writeFileSync(instructions, 'Work in silence.')
  const { id } = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Coder',
    reportsTo: ceo.id,
    adapterType: 'runtimeB_local',
    adapterConfig: { command: 'node', instructionsFilePath: instructions },
  })
  assert.match((await runs.make('POST', `/api/agents/${id}/rehearse`)).prompt, /Work in silence/)
  const { body } = await ceo.request('POST', `/api/agents/${id}/rehearse`)
  assert.ok(!JSON.stringify(body).includes('Work in silence'))
  assert.match(body.notes.join(' '), /only the board/)
})

for (const [what, place] of [
  ['a file of the server', 'server.json'],
  ['a missing file', 'nowhere/AGENTS.md'],
] as const) {
  test(`a path to ${what} that an agent set is never opened`, async (t) => {
    const runs = await createTestRuns(t)
    const ceo = insertManager(runs)
    const file = path.join(runs.config.dataDir, place)
    mkdirSync(path.join(runs.config.dataDir, 'keys'))
    writeFileSync(path.join(runs.config.dataDir, 'server.json'), 'the reset key')
    const { agent } = await hire(runs, ceo, { instructionsFilePath: file })
    assert.equal(agent.status, 'idle')
    for (const request of [ceo.request, runs.request]) {
      const { body } = await request('POST', `/api/agents/${agent.id}/rehearse`)
      assert.ok(!JSON.stringify(body).includes('the reset key'))
    }
    const { gates } = await runs.make('POST', `/api/agents/${agent.id}/rehearse`)
    assert.deepEqual(
      gates.map((gate: { code: string }) => gate.code),
      ['folder_not_allowed'],
    )
  })
}
