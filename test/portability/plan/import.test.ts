import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent, insertAgent } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'
import { countRows, filesOf, importInto, importNew, inline, PACKAGES, refuse } from '../fixtures.ts'

const agentsys = filesOf(path.join(PACKAGES, 'agentsys-engineering'))

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
type Any = any

const PEOPLE = {
  'COMPANY.md': '---\nname: Walrus Ltd\nlicense: MIT\ngoals: [Swim]\n---\n',
  'agents/ceo/AGENTS.md': '---\nname: CEO\n---\nLead.\n',
  'agents/builder/AGENTS.md': '---\nname: Builder\nreportsTo: ceo\n---\nBuild.\n',
  'projects/dam/PROJECT.md': '---\nname: Dam\nowner: ceo\n---\n',
  'projects/dam/tasks/dig/TASK.md': '---\nname: Dig\nassignee: builder\n---\nDeep.\n',
}

const shape = (plan: Any) => plan.entities.map(({ kind, slug, action, as }: Any) => [kind, slug, action, as].join(' '))

const list = async (app: TestApp, companyId: string, noun: string): Promise<Any[]> =>
  (await app.request('GET', `/api/companies/${companyId}/${noun}`)).body

test('the preview lists each action of the import and changes nothing', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const before = countRows(app)
  const body = { source: inline(agentsys), target: { mode: 'existing_company' } }
  const preview = await app.make('POST', `/api/companies/${companyId}/imports/preview`, body)
  assert.deepEqual(countRows(app), before)
  const done = await app.make('POST', `/api/companies/${companyId}/imports/apply`, {
    ...body,
    planHash: preview.planHash,
  })
  assert.deepEqual(shape(done), shape(preview))
  assert.deepEqual([done.counts, done.warnings, done.planHash], [preview.counts, preview.warnings, preview.planHash])
  for (const entity of done.entities) assert.ok(entity.id !== null || entity.kind === 'team', entity.slug)
})

test('the result of an import matches the database', async (t) => {
  const app = createTestApp(t)
  const plan = await importNew(app, agentsys)
  const { companyId } = plan.target
  const agents = await list(app, companyId, 'agents')
  const bySlug = new Map(agents.map((agent) => [agent.urlKey, agent]))
  const analyst = bySlug.get('research-perf-analyst')
  assert.equal(analyst.name, 'Research & Perf Analyst')
  assert.equal(analyst.reportsTo, bySlug.get('cto').id)
  assert.equal(analyst.adapterType, 'runtimeA_local')
  assert.equal(analyst.adapterConfig.model, 'claude-opus-4-6')
  assert.deepEqual(analyst.desiredSkills, ['perf-analyzer', 'perf-benchmarker', 'learn', 'consult', 'debate'])
  assert.match(readFileSync(analyst.adapterConfig.instructionsFilePath, 'utf8'), /^You are the Research & Performance/)
  assert.equal(statSync(analyst.adapterConfig.instructionsFilePath).mode & 0o777, 0o600)
  assert.equal(bySlug.get('ceo').role, 'ceo')
  assert.deepEqual(
    plan.inputs.map((input: Any) => `${input.agent} ${input.name} ${input.requirement}`),
    ['ceo GH_TOKEN optional', 'qa-release-lead GH_TOKEN optional'],
  )
  assert.deepEqual(
    (await list(app, companyId, 'goals')).map((goal) => goal.level),
    ['company', 'company', 'company'],
  )
  const [project] = await list(app, companyId, 'projects')
  assert.deepEqual([project.urlKey, project.leadAgentId], ['pipeline-setup', bySlug.get('ceo').id])
  const issues = await list(app, companyId, 'issues')
  assert.deepEqual(issues.map((issue) => [issue.title, issue.status, issue.projectId, issue.assigneeAgentId]).sort(), [
    ['Configure Task Source', 'todo', project.id, bySlug.get('ceo').id],
    ['Onboard Team', 'todo', project.id, bySlug.get('cto').id],
  ])
  const activity = await list(app, companyId, 'activity')
  assert.equal(activity[0].action, 'company.imported')
})

test('an import starts no timer and wakes no agent', async (t) => {
  const app = createTestApp(t)
  const sidecar = 'agents:\n  builder:\n    runtime: {heartbeat: {enabled: true, intervalSec: 60}}\n'
  const { target } = await importNew(app, { ...PEOPLE, '.paperclip.yaml': sidecar })
  const builder = (await list(app, target.companyId, 'agents')).find((agent) => agent.urlKey === 'builder')
  assert.deepEqual(builder.runtimeConfig, { heartbeat: { intervalSec: 60 } })
  assert.equal((await app.request('GET', `/api/agents/${builder.id}/runtime-state`)).body.timerDueAt, null)
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('wake').selectAll()), [])
})

test('an object with a name conflict is renamed, and its reports and tasks follow it', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, PEOPLE)
  const plan = await importInto(app, target.companyId, PEOPLE)
  assert.deepEqual(shape(plan), [
    'company walrus-ltd skip Walrus Ltd',
    'agent builder rename Builder 2',
    'agent ceo rename CEO 2',
    'goal swim skip Swim',
    'project dam rename Dam 2',
    'issue dam/dig create Dig',
  ])
  assert.match(plan.entities[1].reason, /The agent builder exists already/)
  const agents = new Map((await list(app, target.companyId, 'agents')).map((agent) => [agent.urlKey, agent]))
  assert.deepEqual([...agents.keys()].sort(), ['builder', 'builder-2', 'ceo', 'ceo-2'])
  assert.equal(agents.get('builder-2').reportsTo, agents.get('ceo-2').id)
  const issue = (await list(app, target.companyId, 'issues')).find(
    (one) => one.assigneeAgentId === agents.get('builder-2').id,
  )
  assert.equal(issue.title, 'Dig')
  assert.ok(plan.warnings.some((warning: Any) => warning.code === 'second_ceo'))
})

test('with the skip policy an object with a name conflict is replaced by the existing object', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, PEOPLE)
  const more = { ...PEOPLE, 'projects/dam/tasks/fill/TASK.md': '---\nname: Fill\nassignee: builder\n---\n' }
  const plan = await importInto(app, target.companyId, more, { collisionStrategy: 'skip' })
  assert.deepEqual(plan.counts.byKind.agent, { create: 0, rename: 0, skip: 2 })
  assert.deepEqual(plan.counts.byKind.issue, { create: 1, rename: 0, skip: 1 })
  const fill = (await list(app, target.companyId, 'issues')).find((issue) => issue.title === 'Fill')
  const [project] = await list(app, target.companyId, 'projects')
  const builder = (await list(app, target.companyId, 'agents')).find((agent) => agent.urlKey === 'builder')
  assert.deepEqual([fill.projectId, fill.assigneeAgentId], [project.id, builder.id])
  // A third import has nothing to do.
  const again = await importInto(app, target.companyId, more, { collisionStrategy: 'skip' })
  assert.equal(again.counts.create + again.counts.rename, 0)
})

test('the slug of a terminated agent is reserved, but the import does not reuse that agent', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, PEOPLE)
  const builder = (await list(app, target.companyId, 'agents')).find((agent) => agent.urlKey === 'builder')
  await app.make('POST', `/api/agents/${builder.id}/terminate`)
  const plan = await importInto(app, target.companyId, PEOPLE, { collisionStrategy: 'skip' })
  assert.deepEqual(plan.counts.byKind.agent, { create: 0, rename: 1, skip: 1 })
})

test('an import creates only the included kinds of objects', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const include = { company: false, agents: true, projects: false, issues: false }
  const plan = await importInto(app, companyId, PEOPLE, { include })
  assert.deepEqual(shape(plan), ['agent builder create Builder', 'agent ceo create CEO'])
})

test('the replace policy is refused', async (t) => {
  await refuse(createTestApp(t), { source: inline(PEOPLE), collisionStrategy: 'replace' }, /replace is not supported/)
})

test('an import is refused if its plan has changed since the preview', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const body = { source: inline(PEOPLE), target: { mode: 'existing_company' } }
  const { planHash } = await app.make('POST', `/api/companies/${companyId}/imports/preview`, body)
  await makeAgent(app, companyId, { name: 'Builder' })
  const response = await app.request('POST', `/api/companies/${companyId}/imports/apply`, { ...body, planHash })
  assert.equal(response.status, 409)
  assert.equal((await list(app, companyId, 'agents')).length, 1)
})

test('a failed import leaves neither rows nor files', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  await app.make('POST', `/api/companies/${companyId}/archive`)
  const before = countRows(app)
  const body = { source: inline(PEOPLE), target: { mode: 'existing_company' } }
  const response = await app.request('POST', `/api/companies/${companyId}/imports/apply`, body)
  assert.equal(response.status, 422)
  assert.match(response.body.error, /archived/)
  assert.deepEqual(countRows(app), before)
  const folder = path.join(app.config.dataDir, 'agents')
  assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [])
})

test('with an approval policy imported agents are pending, and get no issues', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app, { requireBoardApprovalForNewAgents: true })
  const plan = await importInto(app, companyId, PEOPLE)
  assert.deepEqual(
    (await list(app, companyId, 'agents')).map((agent) => agent.status),
    ['pending_approval', 'pending_approval'],
  )
  assert.equal((await list(app, companyId, 'approvals')).length, 2)
  assert.ok(plan.warnings.some((warning: Any) => warning.code === 'unassigned'))
  assert.equal((await list(app, companyId, 'issues'))[0].assigneeAgentId, null)
})

test('an import by the board stores the approval policy of the package, and approves its own agents', async (t) => {
  const app = createTestApp(t)
  const sidecar = 'company: {requireBoardApprovalForNewAgents: true, budgetMonthlyCents: 5000, brandColor: "#112233"}'
  const { target } = await importNew(app, { ...PEOPLE, '.service.yaml': sidecar })
  const { body } = await app.request('GET', `/api/companies/${target.companyId}`)
  assert.deepEqual(
    [body.requireBoardApprovalForNewAgents, body.budgetMonthlyCents, body.brandColor],
    [true, 5000, '#112233'],
  )
  assert.ok((await list(app, target.companyId, 'agents')).every((agent) => agent.status === 'idle'))
})

/** Creates a company with a CEO without a budget limit, and sends requests as that agent. */
async function withCeo(app: TestApp) {
  const companyId = await makeCompany(app)
  const ceo = await makeAgent(app, companyId, { name: 'Chief', role: 'ceo' })
  return { companyId, request: await asAgent(app, ceo), url: `/api/companies/${companyId}/imports/apply`, ceo }
}

test('an import by the CEO agent follows the rules of hires: agents with a program require approval by the board', async (t) => {
  const app = createTestApp(t)
  const { request, url, companyId } = await withCeo(app)
  const sidecar = 'agents:\n  builder: {adapter: {type: codex_local, config: {command: /opt/x/codex}}}\n'
  const files = { ...PEOPLE, '.paperclip.yaml': sidecar, 'agents/digger/AGENTS.md': '---\nname: Digger\n---\nDig.\n' }
  const { status, body } = await request('POST', url, { source: inline(files), target: { mode: 'existing_company' } })
  assert.equal(status, 201)
  const statuses = Object.fromEntries(
    (await list(app, companyId, 'agents')).map((agent) => [agent.urlKey, agent.status]),
  )
  // A second CEO has the same permissions, so it also requires approval.
  assert.deepEqual(statuses, { chief: 'running', builder: 'pending_approval', ceo: 'pending_approval', digger: 'idle' })
  assert.deepEqual(
    body.entities.filter((entity: Any) => entity.kind === 'agent').map((entity: Any) => entity.status),
    ['pending_approval', 'pending_approval', 'idle'],
  )
  const codes = body.warnings.map((warning: Any) => warning.code)
  for (const code of ['absolute_command', 'names_what_runs', 'second_ceo', 'unassigned'])
    assert.ok(codes.includes(code), code)
  const approvals = await list(app, companyId, 'approvals')
  assert.deepEqual(
    approvals.map((approval) => approval.payload.runs).find((runs) => runs.command),
    { command: '/opt/x/codex' },
  )
})

test('in a new company that the CEO agent imports, every agent requires approval by the board', async (t) => {
  const app = createTestApp(t)
  const { request, url, companyId } = await withCeo(app)
  const { status, body } = await request('POST', url, {
    source: inline(PEOPLE),
    target: { mode: 'new_company', newCompanyName: 'Otter' },
  })
  assert.equal(status, 201)
  const created = body.target.companyId
  assert.notEqual(created, companyId)
  assert.equal((await request('GET', `/api/companies/${created}/agents`)).status, 403)
  assert.ok((await list(app, created, 'agents')).every((agent) => agent.status === 'pending_approval'))
  const imported = (await list(app, created, 'activity'))[0]
  assert.deepEqual([imported.actorType, imported.details.fromCompanyId], ['system', companyId])
  // The new company does not depend on the source company.
  await app.make('POST', `/api/companies/${companyId}/archive`)
  app.ctx.db.run(sql.updateTable('run').set({ finished_at: app.ctx.now, status: 'succeeded' }))
  await app.make('DELETE', `/api/companies/${companyId}?confirm=Acme`)
  assert.equal((await app.request('GET', `/api/companies/${created}`)).status, 200)
})

test('imports are refused for agents other than the CEO, for other companies, and for agents at the instance endpoint', async (t) => {
  const app = createTestApp(t)
  const { companyId, request, url } = await withCeo(app)
  const other = await makeCompany(app, { name: 'Other' })
  const engineer = insertAgent(app, { company_id: companyId })
  const body = { source: inline(PEOPLE), target: { mode: 'existing_company' } }
  for (const what of ['imports/preview', 'imports/apply', 'exports/preview', 'exports']) {
    const sent = what.startsWith('imports') ? body : {}
    assert.equal((await engineer.request('POST', `/api/companies/${companyId}/${what}`, sent)).status, 403, what)
    assert.equal((await request('POST', `/api/companies/${other}/${what}`, sent)).status, 403, what)
  }
  assert.equal((await request('POST', url, { ...body, target: { ...body.target, companyId: other } })).status, 403)
  assert.equal((await app.request('POST', url, { ...body, target: { ...body.target, companyId: other } })).status, 422)
  assert.equal((await request('POST', '/api/companies/import/apply', body)).status, 403)
  assert.equal((await app.request('POST', '/api/companies/import/apply', body)).status, 422)
  const unknown = { mode: 'existing_company', companyId: 'nope' }
  assert.equal((await app.request('POST', '/api/companies/import/apply', { ...body, target: unknown })).status, 422)
  assert.deepEqual(await list(app, other, 'agents'), [])
})

test('warnings name all data that a person should check', async (t) => {
  const app = createTestApp(t)
  const files = {
    'agents/a/AGENTS.md': '---\nname: A\nskills: [nowhere]\nmood: sunny\n---\n',
    'skills/run/SKILL.md': '---\nname: run\n---\n',
    'skills/run/scripts/go.sh': '#!/bin/sh\n',
    'notes.txt': 'x',
    'agents/b/AGENTS.md': '---\nname: B\nrequirements: {secrets: [GH_TOKEN]}\n---\n',
    '.service.yaml':
      'agents:\n  a: {adapter: {type: openclaw_gateway, config: {cwd: /x}}}\n  b: {adapter: {type: process, config: {command: bash}}}\n',
  }
  const target = { mode: 'new_company', newCompanyName: 'X' }
  const plan = await app.make('POST', '/api/companies/import/preview', { source: inline(files), target })
  const found = Object.fromEntries(plan.warnings.map((warning: Any) => [warning.code, warning.message]))
  assert.match(found.no_license, /no license/)
  assert.match(found.executable, /scripts\/go\.sh/)
  assert.match(found.adapter, /no adapter openclaw_gateway/)
  assert.match(found.unknown, /nowhere/)
  assert.match(found.shell, /the shell bash without arguments, which would execute the text of the prompt/)
  assert.match(found.needs_secret, /GH_TOKEN/)
  assert.ok(plan.warnings.some((warning: Any) => /mood/.test(warning.message)))
  assert.ok(plan.warnings.some((warning: Any) => /notes\.txt/.test(warning.message)))
})

test('live events report the progress of an import', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const phases: unknown[] = []
  const stop = app.ctx.events.subscribe(({ type, data }) => {
    if (type === 'import.progress') phases.push((data as { phase: string }).phase)
  })
  app.onClose(stop)
  await importInto(app, companyId, PEOPLE)
  assert.deepEqual(phases, ['fetching', 'writing', 'done'])
})

test('the server imports 170 agents within one second of its processor time', async (t) => {
  const app = createTestApp(t)
  const files: Record<string, string> = { 'COMPANY.md': '---\nname: Big\n---\n' }
  for (let n = 0; n < 170; n++) {
    const manager = n === 0 ? 'null' : `a${Math.floor((n - 1) / 8)}`
    files[`agents/a${n}/AGENTS.md`] =
      `---\nname: Agent ${n}\nreportsTo: ${manager}\n---\n${'Work well. '.repeat(200)}\n`
  }
  const before = process.cpuUsage()
  const plan = await importNew(app, files)
  const { user, system } = process.cpuUsage(before)
  assert.equal(plan.counts.byKind.agent.create, 170)
  // This measures processor time, because other programs do not affect it.
  assert.ok((user + system) / 1_000 < 1_000, `${(user + system) / 1_000} ms`)
})

test('the hash of a plan does not depend on the order of the files', async (t) => {
  const app = createTestApp(t)
  const files = filesOf(path.join(PACKAGES, 'gstack'))
  const reversed = Object.fromEntries(Object.entries(files).reverse())
  const hashOf = async (sent: typeof files) =>
    (
      await app.make('POST', '/api/companies/import/preview', {
        ...{ source: inline(sent), target: { mode: 'new_company' }, fetchSkills: false },
      })
    ).planHash
  assert.equal(await hashOf(reversed), await hashOf(files))
})
