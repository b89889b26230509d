import assert from 'node:assert/strict'
import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { RUN_ID, SESSION_ID } from '../../../src/runtime/rehearsal/rehearse.ts'
import { listSharedFolders } from '../../../src/runtime/rehearsal/shared-folder.ts'
import { insertAgent, insertRun, insertSpend } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const MESSAGES = path.join(import.meta.dirname, '../../agents/tells.mjs')

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
const rehearse = async (runs: TestRuns, agentId: string, body?: object): Promise<any> =>
  runs.make('POST', `/api/agents/${agentId}/rehearse`, body)

const codesOf = (rehearsal: { gates: { code: string }[] }) => rehearsal.gates.map((gate) => gate.code)

async function makeAgent(runs: TestRuns, adapterType: string, adapterConfig: object): Promise<string> {
  const body = { name: `Ada ${adapterType}`, adapterType, adapterConfig }
  return (await runs.make('POST', `/api/companies/${runs.companyId}/agents`, body)).id
}

/** Returns the start data that the program of the agent's only run printed. */
async function readStartData(runs: TestRuns, agentId: string) {
  const run = (await runs.runs()).find((one) => one.agentId === agentId)
  const { body } = await runs.request('GET', `/api/runs/${run.id}/log`)
  return { runId: run.id as string, ...JSON.parse(body.text.split('\n')[0]) }
}

for (const adapterType of ['process', 'runtimeA_local', 'runtimeB_local']) {
  test(`a rehearsal of ${adapterType} matches the run: argv, directory, prompt and variables`, async (t) => {
    const runs = await createTestRuns(t)
    const instructions = path.join(runs.config.dataDir, 'AGENTS.md')
    writeFileSync(instructions, 'Work well.')
    const agentId = await makeAgent(runs, adapterType, {
      command: MESSAGES,
      env: { COLOUR: 'a value that nobody sees' },
      ...(adapterType === 'process'
        ? { args: ['--twice', 'a b'] }
        : { instructionsFilePath: instructions, model: 'm-1', promptTemplate: 'Run {{run.id}} of {{agent.name}}.' }),
    })
    const path_ = `/api/companies/${runs.companyId}/issues`
    await runs.make('POST', path_, { title: 'Draw the curve', assigneeAgentId: agentId })
    const rehearsal = await rehearse(runs, agentId)
    assert.deepEqual([rehearsal.wouldRun, rehearsal.gates, rehearsal.wakeReason], [true, [], 'issue_assigned'])
    assert.ok(!JSON.stringify(rehearsal).includes('nobody sees'))

    await runs.runUntilIdle()
    const run = await readStartData(runs, agentId)
    const isRun = (text: string) => text.replaceAll(run.runId, RUN_ID).replace(/^[\da-f]{8}-[\da-f-]{27}$/, SESSION_ID)
    assert.deepEqual(run.argv.map(isRun), rehearsal.argv)
    assert.equal(run.cwd, realpathSync(rehearsal.cwd))
    assert.equal(isRun(run.prompt), rehearsal.prompt)
    assert.deepEqual(run.environment, rehearsal.environment)
    assert.match(rehearsal.prompt, /Draw the curve/)
  })
}

test('a rehearsal changes neither rows nor folders', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await makeAgent(runs, 'process', { command: MESSAGES })
  const tables = ['activity', 'wake', 'run', 'agent_session', 'cost_event'] as const
  const count = () => tables.map((table) => runs.ctx.db.all(sql.selectFrom(table).selectAll()))
  const before = [count(), readdirSync(runs.config.dataDir)]
  const { cwd } = await rehearse(runs, agentId)
  assert.deepEqual([count(), readdirSync(runs.config.dataDir)], before)
  assert.equal(existsSync(cwd), false)
})

test('without a queued wake a rehearsal shows a manual run by the board, on the given issue', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await makeAgent(runs, 'process', { command: MESSAGES })
  const issue = await runs.make('POST', `/api/companies/${runs.companyId}/issues`, { title: 'Draw the curve' })
  const free = await rehearse(runs, agentId)
  assert.deepEqual([free.wakeReason, free.issueId, free.reasons.length], ['on_demand', null, 1])
  assert.ok(!free.environment.includes('SERVICE_TASK_ID'))
  const named = await rehearse(runs, agentId, { issueId: issue.identifier })
  assert.deepEqual([named.issueId, named.environment.includes('SERVICE_TASK_ID')], [issue.id, true])
})

test('a rehearsal names the session that the run would resume', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await makeAgent(runs, 'runtimeA_local', { command: MESSAGES })
  const fresh = await rehearse(runs, agentId)
  assert.deepEqual(fresh.session, { mode: 'fresh', id: null })
  const key = { agent_id: agentId, issue_key: '', adapter_type: 'runtimeA_local' }
  const session = { ...key, session_id: 'S-1', cwd: fresh.cwd, updated_at: runs.ctx.now }
  runs.ctx.db.run(sql.insertInto('agent_session').values(session))
  const resumed = await rehearse(runs, agentId)
  assert.deepEqual(resumed.session, { mode: 'resumed', id: 'S-1' })
  assert.ok(resumed.argv.join(' ').includes('--resume S-1'))
})

test('a rehearsal lists all errors that would fail the run, with the same messages', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await makeAgent(runs, 'runtimeA_local', {
    command: 'no-such-program',
    cwd: path.join(runs.config.dataDir, 'nowhere'),
    // Without its own PATH, the wake would wait for the program instead.
    env: { PATH: '/no/programs' },
  })
  const rehearsal = await rehearse(runs, agentId)
  assert.deepEqual([rehearsal.wouldRun, codesOf(rehearsal)], [false, ['cwd_missing', 'command_missing']])
  assert.match(rehearsal.gates[1].message, /no-such-program was not found .*npm install -g/)
  assert.equal(rehearsal.argv[0], 'no-such-program')
  await runs.make('POST', `/api/agents/${agentId}/wakeup`)
  await runs.tick()
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.deepEqual([run.errorCode, run.error], [rehearsal.gates[0].code, rehearsal.gates[0].message])
})

test('a rehearsal of an invalid configuration shows no command', async (t) => {
  const runs = await createTestRuns(t)
  const agent = insertAgent(runs, { company_id: runs.companyId, adapter_config: '{"colour":"red"}' })
  const rehearsal = await rehearse(runs, agent.id)
  assert.deepEqual([codesOf(rehearsal), rehearsal.argv], [['invalid_config'], null])
})

test('a rehearsal of an external agent shows no command and gives the reason', async (t) => {
  const runs = await createTestRuns(t)
  const rehearsal = await rehearse(runs, await makeAgent(runs, 'none', {}))
  assert.deepEqual([codesOf(rehearsal), rehearsal.argv, rehearsal.wouldRun], [['works_elsewhere'], null, false])
})

const GATES: [string, string, (runs: TestRuns, agentId: string) => unknown][] = [
  ['a paused agent', 'agent_status', (runs, id) => runs.make('POST', `/api/agents/${id}/pause`)],
  ['a terminated agent', 'agent_status', (runs, id) => runs.make('POST', `/api/agents/${id}/terminate`)],
  [
    'a paused company',
    'company_status',
    (runs) => runs.make('PATCH', `/api/companies/${runs.companyId}`, { status: 'paused' }),
  ],
  ['a freeze', 'frozen', (runs) => runs.make('POST', '/api/instance/freeze')],
  ['a stopped company', 'company_stopped', (runs) => runs.make('POST', `/api/companies/${runs.companyId}/stop`)],
  [
    'a provider that refuses temporarily',
    'held',
    (runs, id) =>
      runs.ctx.db.run(
        sql
          .updateTable('agent')
          .set({ held_until: '2026-11-21T10:00:00.000Z', held_because: 'The provider refuses.' })
          .where('id', '=', id),
      ),
  ],
  ['a spent budget', 'agent_budget', (runs, id) => insertSpend(runs.ctx, { id }, 100)],
  ['a live run', 'agent_busy', (runs, id) => insertRun(runs, { id })],
  [
    'a full server',
    'server_busy',
    async (runs) => {
      for (let i = 0; i < runs.config.maxRuns; i++) {
        await insertRun(runs, insertAgent(runs, { company_id: runs.companyId }))
      }
    },
  ],
]

for (const [what, code, close] of GATES) {
  test(`${what} blocks the start, in the rehearsal and in the run`, async (t) => {
    const runs = await createTestRuns(t)
    const agentId = await makeAgent(runs, 'process', { command: MESSAGES })
    runs.ctx.db.run(sql.updateTable('agent').set({ budget_micros: 1_000_000 }).where('id', '=', agentId))
    await runs.make('POST', `/api/agents/${agentId}/wakeup`)
    assert.equal((await rehearse(runs, agentId)).wouldRun, true)
    await close(runs, agentId)
    assert.deepEqual(codesOf(await rehearse(runs, agentId)), [code])
    await runs.tick()
    const ran = (await runs.runs()).filter(
      (run) => run.invocationSource === 'on_demand' && run.adapterType === 'process',
    )
    assert.ok(!ran.some((run) => run.agentId === agentId && run.reasons.length > 0))
    runs.ctx.db.run(sql.updateTable('run').set({ status: 'succeeded', finished_at: runs.ctx.now }))
  })
}

test('the board and the managers of an agent can rehearse it; colleagues and other companies cannot', async (t) => {
  const runs = await createTestRuns(t)
  const boss = insertAgent(runs, { company_id: runs.companyId })
  const agent = insertAgent(runs, {
    company_id: runs.companyId,
    reports_to: boss.id,
    adapter_config: JSON.stringify({ command: MESSAGES }),
  })
  const path_ = `/api/agents/${agent.id}/rehearse`
  assert.equal((await boss.request('POST', path_)).status, 200)
  assert.equal((await agent.request('POST', path_)).status, 403)
  const other = await runs.make('POST', '/api/companies', { name: 'Other' })
  const stranger = insertAgent(runs, { company_id: other.id })
  insertAgent(runs, { company_id: other.id, reports_to: stranger.id })
  assert.equal((await stranger.request('POST', path_)).status, 404)
})

test('a rehearsal names a working directory that other runs can use at the same time, and their agents', async (t) => {
  const runs = await createTestRuns(t)
  const one = await runs.agentThat('succeed.js', { heartbeat: { maxConcurrentRuns: 2 } })
  const [note] = (await rehearse(runs, one)).notes
  assert.match(note, /can work in .*work at the same time .*: up to 2 runs of this agent\. Set isolation: worktree/)
  const two = await runs.agentThat('fail.js')
  assert.match((await rehearse(runs, two)).notes[0], /: succeed\.js\. /)
  await runs.make('PATCH', `/api/agents/${two}`, { adapterConfig: { cwd: runs.config.dataDir } })
  assert.deepEqual((await rehearse(runs, two)).notes, [])

  const agents = [
    await makeAgent(runs, 'process', { command: 'true' }),
    await makeAgent(runs, 'process', { command: 'true' }),
  ]
  const cwd = path.join(runs.config.dataDir, 'project')
  const project = await runs.make('POST', `/api/companies/${runs.companyId}/projects`, {
    name: 'P',
    workspace: { cwd },
  })
  for (const assigneeAgentId of agents) {
    const issue = { title: 'Do', projectId: project.id, assigneeAgentId, status: 'todo' }
    await runs.make('POST', `/api/companies/${runs.companyId}/issues`, issue)
  }
  assert.deepEqual(
    listSharedFolders(runs.ctx.db).map(({ folder, agents }) => [path.basename(folder), agents.length]),
    [
      ['project', 2],
      ['work', 1],
    ],
  )
  const workspace = `/api/projects/${project.id}/workspaces/${project.primaryWorkspace.id}`
  await runs.make('PATCH', workspace, { isolation: 'worktree' })
  assert.equal(listSharedFolders(runs.ctx.db).length, 1)
})

test('a rehearsal warns about a shell without arguments, which would execute the prompt', async (t) => {
  const runs = await createTestRuns(t)
  const shellNotes = async (adapterConfig: object) => {
    const { notes } = await rehearse(runs, await makeAgent(runs, 'process', adapterConfig))
    return notes.filter((note: string) => /would execute the text of the prompt/.test(note))
  }
  assert.equal((await shellNotes({ command: '/bin/sh' })).length, 1)
  assert.deepEqual(await shellNotes({ command: 'sh', args: ['-c', 'true'] }), [])
  assert.deepEqual(await shellNotes({ command: MESSAGES }), [])
})
