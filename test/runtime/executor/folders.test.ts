import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const MESSAGES = path.join(import.meta.dirname, '../../agents/tells.mjs')

/** Creates a company with a manager, a folder outside the data directory, and a `claude` program that prints its start data. */
async function arrange(t: TestContext) {
  const outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'service-outside-')))
  t.after(() => rmSync(outside, { recursive: true }))
  const bin = path.join(outside, 'bin')
  mkdirSync(bin)
  const result = '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'
  writeFileSync(path.join(bin, 'claude'), `#!/bin/sh\n'${MESSAGES}' "$@"\necho '${result}'\n`, { mode: 0o755 })
  const environment = { PATH: `${bin}:${process.env.PATH}` }
  const runs = await createTestRuns(t, { environment })
  const manager = insertAgent(runs, { company_id: runs.companyId, role: 'ceo', adapter_type: 'none' })
  const folder = path.join(outside, 'project')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'AGENTS.md'), 'Work well.')
  return { runs, manager, folder, outside }
}

const hire = async (runs: TestRuns, manager: ReturnType<typeof insertAgent>, body: object) => {
  const response = await manager.request('POST', `/api/companies/${runs.companyId}/agent-hires`, {
    name: 'Newbie',
    ...body,
  })
  assert.equal(response.status, 201, JSON.stringify(response.body))
  assert.deepEqual([response.body.agent.status, response.body.approval], ['idle', null])
  return response.body.agent
}

/** Runs an agent once, and returns the run. */
async function runOnce(runs: TestRuns, agentId: string) {
  await runs.make('POST', `/api/agents/${agentId}/wakeup`)
  await runs.runUntilIdle()
  return (await runs.runs()).findLast((run) => run.agentId === agentId)
}

/** Returns the start data that the program printed. */
async function readStartData(runs: TestRuns, run: { id: string }) {
  return JSON.parse((await runs.make('GET', `/api/runs/${run.id}/log`)).text.split('\n')[0])
}

const requests = (runs: TestRuns) => runs.make('GET', `/api/companies/${runs.companyId}/approvals?type=allow_folder`)

for (const key of ['cwd', 'instructionsFilePath'] as const) {
  test(`a hire can set ${key} outside the allowed folders, but its run does not start`, async (t) => {
    const { runs, manager, folder } = await arrange(t)
    const value = key === 'cwd' ? folder : path.join(folder, 'AGENTS.md')
    const agent = await hire(runs, manager, { adapterConfig: { [key]: value } })
    assert.deepEqual([agent.adapterConfig, agent.unapprovedPaths], [{ [key]: value }, [key]])
    const run = await runOnce(runs, agent.id)
    assert.deepEqual([run.status, run.errorCode], ['failed', 'folder_not_allowed'])
    assert.equal(run.error, `The board has not allowed this folder: ${folder}.`)
    const [approval, ...others] = await requests(runs)
    assert.deepEqual([others, approval.status, approval.agentId], [[], 'pending', agent.id])
    assert.deepEqual(approval.payload, {
      agentId: agent.id,
      agentName: 'Newbie',
      runId: run.id,
      key,
      path: value,
      folder,
      runs: { adapterType: 'runtimeA_local' },
    })
    await runOnce(runs, agent.id)
    assert.equal((await requests(runs)).length, 1)
  })
}

test('a folder that the board allows once is valid for one run; an always-allowed folder is valid for every run', async (t) => {
  const { runs, manager, folder } = await arrange(t)
  const agent = await hire(runs, manager, { adapterConfig: { cwd: folder } })
  await runOnce(runs, agent.id)
  const [requested] = await requests(runs)
  await runs.make('POST', `/api/approvals/${requested.id}/approve`, { allow: 'once' })
  await runs.runUntilIdle()
  const woken = (await runs.runs()).at(-1)
  assert.deepEqual([woken.status, woken.invocationSource], ['succeeded', 'approval_resolved'])
  assert.equal((await readStartData(runs, woken)).cwd, folder)

  assert.equal((await runOnce(runs, agent.id)).errorCode, 'folder_not_allowed')
  const [again] = await requests(runs)
  assert.notEqual(again.id, requested.id)
  await runs.make('POST', `/api/approvals/${again.id}/approve`, { allow: 'always' })
  const company = await runs.make('GET', `/api/companies/${runs.companyId}`)
  assert.deepEqual(company.allowedFolders, [folder])
  assert.equal((await runOnce(runs, agent.id)).status, 'succeeded')
  assert.equal((await runOnce(runs, agent.id)).status, 'succeeded')
})

test('after the board refuses a folder, no second request is sent and the agent is not woken', async (t) => {
  const { runs, manager, folder } = await arrange(t)
  const agent = await hire(runs, manager, { adapterConfig: { cwd: folder } })
  await runOnce(runs, agent.id)
  const [requested] = await requests(runs)
  await runs.make('POST', `/api/approvals/${requested.id}/reject`)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
  await runOnce(runs, agent.id)
  assert.equal((await requests(runs)).length, 1)
})

test('only the server can request access to a folder, and no one can change the requested folder', async (t) => {
  const { runs, manager, folder } = await arrange(t)
  const body = { type: 'allow_folder', payload: { folder: '/' } }
  for (const request of [manager.request, runs.request]) {
    assert.equal((await request('POST', `/api/companies/${runs.companyId}/approvals`, body)).status, 400)
  }
  const agent = await hire(runs, manager, { adapterConfig: { cwd: folder } })
  await runOnce(runs, agent.id)
  const [requested] = await requests(runs)
  await runs.make('POST', `/api/approvals/${requested.id}/request-revision`)
  const path_ = `/api/approvals/${requested.id}/resubmit`
  assert.equal((await runs.request('POST', path_, { payload: { folder: '/' } })).status, 422)
  const resubmitted = await runs.make('POST', path_, { payload: { reason: 'It is needed.' } })
  assert.equal(resubmitted.payload.folder, folder)
})

test('a symbolic link in an allowed folder does not give access to other folders', async (t) => {
  const { runs, manager, folder, outside } = await arrange(t)
  const allowed = path.join(outside, 'allowed')
  mkdirSync(allowed)
  symlinkSync(folder, path.join(allowed, 'link'))
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { allowedFolders: [allowed] })
  for (const cwd of [path.join(allowed, 'link'), `${allowed}/../project`, `${allowed}-2`]) {
    const agent = await hire(runs, manager, { adapterConfig: { cwd } })
    assert.equal((await runOnce(runs, agent.id)).errorCode, 'folder_not_allowed', cwd)
  }
  const agent = await hire(runs, manager, { adapterConfig: { cwd: allowed } })
  assert.equal((await runOnce(runs, agent.id)).status, 'succeeded')
})

test('an agent can use its own folder, but no other folder of the data directory, even if it is allowed', async (t) => {
  const { runs, manager } = await arrange(t)
  const { dataDir } = runs.config
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { allowedFolders: ['/', dataDir] })
  const agent = await hire(runs, manager, { adapterConfig: {} })
  assert.equal((await runOnce(runs, agent.id)).status, 'succeeded')
  const own = path.join(dataDir, 'agents', agent.id)
  writeFileSync(path.join(own, 'AGENTS.md'), 'Work well.')
  const setPath = (file: string) =>
    manager.request('PATCH', `/api/agents/${agent.id}/instructions-path`, { path: file })
  await setPath(path.join(own, 'AGENTS.md'))
  assert.equal((await runOnce(runs, agent.id)).status, 'succeeded')
  for (const place of ['service.db', 'agents/another/AGENTS.md', `agents/${agent.id}/../../keys/session.key`]) {
    await setPath(`${dataDir}/${place}`)
    assert.equal((await runOnce(runs, agent.id)).errorCode, 'folder_not_allowed', place)
    await runs.make('POST', `/api/agents/${agent.id}/resume`)
  }
  assert.deepEqual(await requests(runs), [], 'the board cannot allow these')
})

test('a pipe in the folder of an agent does not block its run', async (t) => {
  const { runs, manager } = await arrange(t)
  const agent = await hire(runs, manager, { adapterConfig: {} })
  await runOnce(runs, agent.id)
  const pipe = path.join(runs.config.dataDir, 'agents', agent.id, 'pipe')
  execFileSync('mkfifo', [pipe])
  await manager.request('PATCH', `/api/agents/${agent.id}/instructions-path`, { path: pipe })
  assert.equal((await runOnce(runs, agent.id)).errorCode, 'instructions_missing')
  rmSync(pipe)
})

test('a path from the board needs no permission until an agent changes it', async (t) => {
  const { runs, manager, folder, outside } = await arrange(t)
  const { id } = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Coder',
    reportsTo: manager.id,
    adapterConfig: { cwd: folder, instructionsFilePath: 'AGENTS.md' },
  })
  assert.equal((await runOnce(runs, id)).status, 'succeeded')
  writeFileSync(path.join(outside, 'private.md'), 'Private.')
  await manager.request('PATCH', `/api/agents/${id}/instructions-path`, { path: '../private.md' })
  assert.equal((await runOnce(runs, id)).errorCode, 'folder_not_allowed')
  await runs.make('PATCH', `/api/agents/${id}/instructions-path`, { path: 'AGENTS.md' })
  assert.equal((await runOnce(runs, id)).status, 'succeeded')
})

test('a path that changes after the hire request requires permission, even after the hire is approved', async (t) => {
  const { runs, manager, folder, outside } = await arrange(t)
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { requireBoardApprovalForNewAgents: true })
  const adapterConfig = { cwd: folder, instructionsFilePath: 'AGENTS.md' }
  const body = { name: 'Newbie', adapterConfig }
  const hired = (await manager.request('POST', `/api/companies/${runs.companyId}/agent-hires`, body)).body
  writeFileSync(path.join(outside, 'private.md'), 'Private.')
  const setPath = `/api/agents/${hired.agent.id}/instructions-path`
  assert.equal((await manager.request('PATCH', setPath, { path: '../private.md' })).status, 200)
  await runs.make('POST', `/api/approvals/${hired.approval.id}/approve`)
  const agent = await runs.make('GET', `/api/agents/${hired.agent.id}`)
  assert.deepEqual([agent.configApproved, agent.unapprovedPaths], [true, ['instructionsFilePath']])
  const run = await runOnce(runs, agent.id)
  assert.equal(run.errorCode, 'folder_not_allowed')
})

for (const by of ['board', 'agent'] as const) {
  test(`a workspace that ${by === 'board' ? 'the board' : 'an agent'} created is ${by === 'board' ? '' : 'not '}entered`, async (t) => {
    const { runs, manager, folder } = await arrange(t)
    const request = by === 'board' ? runs.request : manager.request
    const agent = await hire(runs, manager, { adapterConfig: {} })
    const project = await request('POST', `/api/companies/${runs.companyId}/projects`, {
      name: 'Curve',
      workspace: { cwd: folder },
    })
    assert.equal(project.status, 201, JSON.stringify(project.body))
    const want = { title: 'Draw', projectId: project.body.id, assigneeAgentId: agent.id }
    await runs.make('POST', `/api/companies/${runs.companyId}/issues`, want)
    await runs.runUntilIdle()
    const [run] = await runs.runs()
    assert.equal(run.errorCode, by === 'board' ? null : 'folder_not_allowed')
    if (by === 'board') return assert.equal((await readStartData(runs, run)).cwd, folder)
    const [requested] = await requests(runs)
    assert.deepEqual([requested.payload.key, requested.payload.folder], ['workspace', folder])
  })
}

test('an agent without approval by a person runs restricted until the board allows it', async (t) => {
  const { runs, manager } = await arrange(t)
  const adapterConfig = { dangerouslySkipPermissions: true, model: 'm-1' }
  const runtimeConfig = { heartbeat: { enabled: true, intervalSec: 60 } }
  const agent = await hire(runs, manager, { adapterConfig, runtimeConfig })
  assert.deepEqual(
    [agent.configApproved, agent.adapterConfig, agent.runtimeConfig],
    [false, adapterConfig, runtimeConfig],
  )
  const timer = async () => (await runs.make('GET', `/api/agents/${agent.id}/runtime-state`)).timerDueAt
  assert.equal(await timer(), null)
  const rehearsal = await runs.make('POST', `/api/agents/${agent.id}/rehearse`)
  assert.match(rehearsal.notes.join(' '), /The run is restricted: no person has approved the configuration/)
  const skips = async () =>
    (await readStartData(runs, await runOnce(runs, agent.id))).argv.includes('--dangerously-skip-permissions')
  assert.equal(await skips(), false)
  await runs.make('POST', `/api/agents/${agent.id}/pause`)
  await runs.make('POST', `/api/agents/${agent.id}/resume`)
  assert.equal(await timer(), null)

  const path_ = `/api/agents/${agent.id}/approve-configuration`
  assert.equal((await manager.request('POST', path_, { revisionId: 'any' })).status, 403)
  assert.equal((await runs.request('POST', path_, {})).status, 400, 'an approval names what it approves')
  assert.equal((await runs.request('POST', path_, { revisionId: 'another' })).status, 409)
  const [revision] = await runs.make('GET', `/api/agents/${agent.id}/config-revisions`)
  const approved = await runs.make('POST', path_, { revisionId: revision.id })
  assert.equal(approved.configApproved, true)
  assert.notEqual(await timer(), null)
  assert.equal(await skips(), true)
  const count = () => runs.ctx.db.all(sql.selectFrom('activity').selectAll()).length
  const before = count()
  await runs.make('POST', path_, { revisionId: revision.id })
  assert.equal(count(), before, 'approving it again changes nothing')
})

test('a company that trusts hires does not restrict hired agents', async (t) => {
  const { runs, manager, folder } = await arrange(t)
  assert.equal((await manager.request('PATCH', `/api/companies/${runs.companyId}`, { trustHires: true })).status, 403)
  assert.equal(
    (await manager.request('PATCH', `/api/companies/${runs.companyId}`, { allowedFolders: ['/'] })).status,
    403,
  )
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { trustHires: true })
  const agent = await hire(runs, manager, { adapterConfig: { cwd: folder } })
  assert.deepEqual([agent.configApproved, agent.unapprovedPaths], [true, []])
  const { argv, cwd } = await readStartData(runs, await runOnce(runs, agent.id))
  assert.equal(cwd, folder)
  assert.ok(argv.includes('--dangerously-skip-permissions'))
})
