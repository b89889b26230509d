import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choosePlacement } from '../../../src/organization/placement/resolve.ts'
import type { Context } from '../../../src/platform/context.ts'
import {
  findStartableWake,
  listBlockingConditions,
  listStartableWakes,
} from '../../../src/runtime/scheduler/start-conditions.ts'
import { createPeopleApp } from '../../access/auth/people.ts'
import {
  asAgent,
  insertAgent,
  insertAgentRow,
  insertCompany,
  insertIssue,
  insertProject,
  insertRunRow,
} from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

const SSH = { name: 'farm', type: 'ssh', settings: { host: 'build@farm' } }

test('the board creates, reads, updates and deletes a placement, and every company records it', async (t) => {
  const { make, request, ctx } = createTestApp(t)
  const companyId = insertCompany(ctx)
  assert.deepEqual((await request('GET', '/api/placements')).body, [])
  const added = await make('POST', '/api/placements', { ...SSH, maxRuns: 7, isDefault: true })
  assert.deepEqual(
    { ...added, createdAt: 0, updatedAt: 0 },
    { ...SSH, maxRuns: 7, isDefault: true, liveRuns: 0, createdAt: 0, updatedAt: 0 },
  )
  assert.equal((await request('POST', '/api/placements', SSH)).status, 409)
  const changed = await make('PATCH', '/api/placements/farm', { settings: { workdir: '/srv/runs' }, maxRuns: 9 })
  assert.deepEqual(changed.settings, { host: 'build@farm', workdir: '/srv/runs' })
  await make('POST', '/api/placements', { ...SSH, name: 'barn', isDefault: true })
  assert.equal(
    (await request('GET', '/api/placements/farm')).body.isDefault,
    false,
    'only one placement is the default',
  )
  await make('DELETE', '/api/placements/barn')
  assert.deepEqual(
    (await request('GET', '/api/placements')).body.map((one: { name: string }) => one.name),
    ['farm'],
  )
  const { body } = await request('GET', `/api/companies/${companyId}/activity`)
  assert.deepEqual(
    body.map((one: { action: string }) => one.action),
    ['placement.removed', 'placement.added', 'placement.updated', 'placement.added'],
  )
})

test('refuses invalid settings, and names each one', async (t) => {
  const { request } = createTestApp(t)
  const refused = async (body: object, path: string, status = 400) => {
    const response = await request('POST', '/api/placements', body)
    assert.equal(response.status, status, JSON.stringify(response.body))
    assert.match(response.body.error, new RegExp(path))
  }
  await refused({ ...SSH, name: 'local' }, 'the machine of the server')
  await refused({ ...SSH, name: 'No good' }, 'name: must be')
  await refused({ ...SSH, settings: {} }, 'settings.host')
  await refused({ ...SSH, settings: { host: '-oProxyCommand=x' } }, 'settings.host: must be one word')
  await refused({ ...SSH, settings: { host: 'a', workdir: "/a'; rm -rf /" } }, 'settings.workdir')
  await refused({ ...SSH, settings: { host: 'a', publicUrl: 'file:///etc' } }, 'settings.publicUrl')
  await refused({ ...SSH, settings: { host: 'a', hosts: 1 } }, 'settings.hosts')
  await refused({ name: 's', type: 'slurm', settings: {} }, 'settings.publicUrl: is missing')
  const slurm = { name: 's', type: 'slurm', settings: { publicUrl: 'http://10.0.0.1:3100' } }
  await refused(slurm, 'local trusted mode .* loopback only', 422)
})

test('in authenticated mode the person who set up the server may create placements of every type', async (t) => {
  const { person } = createPeopleApp(t)
  const founder = await person('Olga', {}, true)
  const publicUrl = 'https://control.example.org/'
  const slurm = { name: 'cluster', type: 'slurm', settings: { publicUrl, partition: 'main' } }
  const response = await founder.request('POST', '/api/placements', slurm)
  assert.equal(response.status, 201, JSON.stringify(response.body))
  assert.equal(response.body.settings.publicUrl, 'https://control.example.org')
  assert.equal((await (await person('Nora')).request('POST', '/api/placements', SSH)).status, 403)
})

test('agents may not set a placement for themselves, in a hire or for a project', async (t) => {
  const app = createTestApp(t)
  const { ctx, make } = app
  await make('POST', '/api/placements', SSH)
  const companyId = insertCompany(ctx)
  const ceo = insertAgent(app, { company_id: companyId, role: 'ceo', name: 'Cleo' })
  const request = await asAgent(app, ceo)
  const runtimeConfig = { placement: 'farm' }
  assert.equal((await request('PATCH', `/api/agents/${ceo.id}`, { runtimeConfig })).status, 403)
  const hire = {
    name: 'Nils',
    role: 'engineer',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
    runtimeConfig,
  }
  const refused = await request('POST', `/api/companies/${companyId}/agent-hires`, hire)
  assert.equal(refused.status, 403, JSON.stringify(refused.body))
  assert.match(refused.body.error, /Only the board chooses a placement/)
  assert.equal(
    (await request('POST', `/api/companies/${companyId}/projects`, { name: 'P', placement: 'farm' })).status,
    403,
  )
  assert.equal((await request('GET', '/api/placements')).status, 403)
  assert.equal((await request('POST', '/api/placements', { ...SSH, name: 'barn' })).status, 403)
})

test('the placement of the agent overrides the project, the project overrides the instance, and `local` is valid', async (t) => {
  const { ctx, make, request } = createTestApp(t)
  const companyId = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id: companyId })
  const http = insertAgentRow(ctx, { company_id: companyId, adapter_type: 'http' })
  const projectId = insertProject(ctx, { company_id: companyId })
  const issue = insertIssue(ctx, { company_id: companyId, project_id: projectId })
  const chosen = (issueId: string | null = issue.id, agentId = agent.id) => choosePlacement(ctx, { agentId, issueId })
  assert.equal(chosen(), null)
  for (const name of ['of-instance', 'of-project', 'of-agent']) {
    await make('POST', '/api/placements', { ...SSH, name, isDefault: name === 'of-instance' })
  }
  assert.equal(chosen(), 'of-instance')
  assert.equal(chosen(issue.id, http.id), null, 'an agent without a program works from here')
  await make('PATCH', `/api/projects/${projectId}`, { placement: 'of-project' })
  assert.deepEqual([chosen(), chosen(null)], ['of-project', 'of-instance'])
  await make('PATCH', `/api/agents/${agent.id}`, { runtimeConfig: { placement: 'of-agent' } })
  assert.equal(chosen(), 'of-agent')
  await make('PATCH', `/api/agents/${agent.id}`, { runtimeConfig: { placement: 'local' } })
  assert.equal(chosen(), null)
  const unknown = await request('PATCH', `/api/agents/${agent.id}`, { runtimeConfig: { placement: 'none-such' } })
  assert.equal(unknown.status, 422)
  assert.match(unknown.body.error, /there is no placement none-such. The placements are: local, of-agent/)
})

test('refuses to delete a placement in use without force; with force the wakes of its agents wait with a reason', async (t) => {
  const { ctx, make, request } = createTestApp(t)
  const companyId = insertCompany(ctx)
  await make('POST', '/api/placements', { ...SSH, maxRuns: 1 })
  const runtime_config = JSON.stringify({ placement: 'farm' })
  const agent = insertAgentRow(ctx, { company_id: companyId, runtime_config })
  const other = insertAgentRow(ctx, { company_id: companyId, runtime_config })
  await make('POST', `/api/agents/${agent.id}/heartbeat/invoke`, {})
  assert.deepEqual(startableAgents(ctx), [agent.id])
  const runId = insertRunRow(ctx, other, { placement: 'farm' })
  const codes = () => listBlockingConditions(ctx, agent, { not_before: null, issue_id: null }).map(({ code }) => code)
  assert.deepEqual(codes(), ['placement_busy'])
  assert.deepEqual(startableAgents(ctx), [])
  const refused = await request('DELETE', '/api/placements/farm')
  assert.equal(refused.status, 409)
  assert.match(refused.body.error, /in use \(1 live run, 2 agents\)/)
  await make('DELETE', '/api/placements/farm?force=true')
  assert.deepEqual(codes(), ['placement_missing'], 'no placement is left, and the agent still names one')
  await make('POST', '/api/placements', { ...SSH, name: 'barn' })
  assert.deepEqual(codes(), ['placement_missing'])
  assert.deepEqual(startableAgents(ctx), [])
  assert.equal((await request('GET', `/api/runs/${runId}`)).body.placement, 'farm')
})

test('runs in placements use no local slot', async (t) => {
  const { ctx, make } = createTestApp(t, { maxRuns: 1 })
  const companyId = insertCompany(ctx)
  await make('POST', '/api/placements', SSH)
  const busy = insertAgentRow(ctx, { company_id: companyId })
  insertRunRow(ctx, busy, { placement: 'farm' })
  const here = insertAgentRow(ctx, { company_id: companyId })
  await make('POST', `/api/agents/${here.id}/heartbeat/invoke`, {})
  assert.deepEqual(startableAgents(ctx), [here.id])
})

/** Returns the agents whose wakes no condition blocks, the most urgent first. */
const startableAgents = (ctx: Context) => listStartableWakes(ctx).map(({ id }) => findStartableWake(ctx, id)?.agent_id)
