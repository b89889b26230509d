import assert from 'node:assert/strict'
import { v7 as uuid } from 'uuid'
import { insertRun, insertSpend, wakeReasons } from '../arrange.ts'
import { contract } from './contract.ts'
import { good, statusOf, type World } from './world.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SECRET = 'hunter2-hunter2'

/** Ada's row, which is the same for Ada and for others. */
async function ada({ engineer, manager, request }: World) {
  const own = await good(engineer.request('GET', '/api/agents/me'))
  for (const by of [manager.request, request])
    assert.deepEqual(await good(by('GET', `/api/agents/${engineer.id}`)), own)
  return own
}

/** Returns the agent that a creation with these fields stores. */
const created = async (world: World, fields: object) => world.thing('agents', { name: 'Nia', ...fields })

const refused = async (world: World, fields: object) => {
  assert.equal(await statusOf(world.request('POST', world.of('/agents'), { name: 'Nia', ...fields })), 400)
}

contract('Agent', {
  'Agent.id is the identifier': async (world) => assert.match((await ada(world)).id, UUID),
  'Agent.name is what mentions match': async (world) => {
    const { id } = await world.issue()
    const { name } = await ada(world)
    await good(world.request('POST', `/api/issues/${id}/comments`, { body: `@${name.toUpperCase()} look.` }))
    assert.equal(wakeReasons(world.ctx, world.engineer)[0]?.source, 'mention')
  },
  'Agent.role is a word such as engineer, manager, ceo, cto, researcher': async (world) => {
    assert.equal((await ada(world)).role, 'engineer')
    for (const role of ['manager', 'ceo', 'cto', 'researcher']) {
      assert.equal((await created(world, { role })).role, role)
    }
  },
  'Agent.title is a human-readable title': async ({ ceo }) => {
    assert.equal((await good(ceo.request('GET', '/api/agents/me'))).title, 'Chief')
  },
  'Agent.companyId is the owning company': async (world) => {
    assert.equal((await ada(world)).companyId, world.company.id)
  },
  'Agent.reportsTo is the manager or null': async (world) => {
    assert.equal((await ada(world)).reportsTo, world.manager.id)
    assert.equal((await good(world.ceo.request('GET', '/api/agents/me'))).reportsTo, null)
  },
  'Agent.capabilities is free text': async (world) => {
    const capabilities = 'Counts.\nAlso in ”ünïcode“ 🦭'
    await good(world.engineer.request('PATCH', `/api/agents/${world.engineer.id}`, { capabilities }))
    assert.equal((await ada(world)).capabilities, capabilities)
  },
  'Agent.status is running, idle, pending_approval and the like': async (world) => {
    assert.equal((await ada(world)).status, 'idle')
    await insertRun(world, world.engineer)
    assert.equal((await ada(world)).status, 'running')
    await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
    const { agent } = await world.thing('agent-hires', { name: 'New' })
    assert.equal((await good(world.request('GET', `/api/agents/${agent.id}`))).status, 'pending_approval')
  },
  'Agent.budgetMonthlyCents is the monthly budget in cents': async (world) => {
    await world.make('PATCH', `/api/agents/${world.engineer.id}/budgets`, { budgetMonthlyCents: 12_345 })
    assert.equal((await ada(world)).budgetMonthlyCents, 12_345)
  },
  'Agent.spentMonthlyCents is the spend in the month, in cents': async (world) => {
    insertSpend(world.ctx, world.engineer, 250)
    assert.equal((await ada(world)).spentMonthlyCents, 250)
    world.clock.set('2026-12-01T00:00:00.000Z')
    assert.equal((await ada(world)).spentMonthlyCents, 0)
  },
  'Agent.chainOfCommand goes from the direct manager to the top, with id, name, role and title': async (world) => {
    assert.deepEqual((await ada(world)).chainOfCommand, [
      { id: world.manager.id, name: 'Mia', role: 'manager', title: null },
      { id: world.ceo.id, name: 'Cleo', role: 'ceo', title: 'Chief' },
    ])
  },
})

contract('Agent creation', {
  'New agent: name': async (world) => {
    assert.equal((await created(world, { name: 'Núria 2' })).name, 'Núria 2')
    await refused(world, { name: '' })
  },
  'New agent: role': async (world) => {
    assert.equal((await created(world, { role: 'researcher' })).role, 'researcher')
    await refused(world, { role: 'Not A Word' })
  },
  'New agent: title': async (world) => assert.equal((await created(world, { title: 'Counter' })).title, 'Counter'),
  'New agent: icon is one of those that are listed': async (world) => {
    const listed: string = (await world.request('GET', '/llms/agent-icons.txt')).body
    const names = listed
      .match(/^(?:[-*] )?`?[a-z][a-z0-9-]*`?$/gm)!
      .map((line) => line.replaceAll(/[^a-z0-9-]|^- /g, ''))
    assert.ok(names.length > 5)
    const hired = await world.manager.request('POST', world.of('/agent-hires'), { name: 'Nia', icon: names[0] })
    assert.equal((await good(hired)).agent.icon, names[0])
    await refused(world, { icon: 'no-such-icon' })
  },
  'New agent: reportsTo is an agent or null': async (world) => {
    assert.equal((await created(world, { reportsTo: world.manager.id })).reportsTo, world.manager.id)
    assert.equal((await created(world, { reportsTo: null })).reportsTo, null)
    const elsewhere = { name: 'Nia', reportsTo: world.stranger.id }
    assert.equal(await statusOf(world.request('POST', world.of('/agents'), elsewhere)), 422)
  },
  'New agent: capabilities': async (world) => {
    assert.equal((await created(world, { capabilities: 'Counts.' })).capabilities, 'Counts.')
  },
  'New agent: desiredSkills takes ids, keys and unique slugs, and stores keys': async (world) => {
    const files = { 'SKILL.md': '---\nname: tides\ndescription: Read a tide table.\n---\nRead it.\n' }
    await world.make('POST', world.of('/skills/import'), { files })
    const skills = await good(world.request('GET', world.of('/skills')))
    const { id, key, slug } = skills.find((skill: { slug: string }) => skill.slug === 'tides')
    for (const ref of [id, key, slug]) {
      assert.deepEqual((await created(world, { desiredSkills: [ref] })).desiredSkills, [key])
    }
  },
  'New agent: adapterType selects the adapter': async (world) => {
    for (const adapterType of ['runtimeA_local', 'runtimeB_local']) {
      assert.equal((await created(world, { adapterType })).adapterType, adapterType)
    }
    await refused(world, { adapterType: 'no-such-adapter' })
  },
  'New agent: adapterConfig holds cwd, model, promptTemplate and instructionsFilePath': async (world) => {
    const adapterConfig = { cwd: '/srv', model: 'm', promptTemplate: 'Do.', instructionsFilePath: '/srv/AGENTS.md' }
    for (const adapterType of ['runtimeA_local', 'runtimeB_local']) {
      assert.deepEqual((await created(world, { adapterType, adapterConfig })).adapterConfig, adapterConfig)
    }
    await refused(world, { adapterConfig: { cdw: '/srv' } })
  },
  'New agent: runtimeConfig holds heartbeat with enabled, intervalSec and wakeOnDemand': async (world) => {
    const heartbeat = { enabled: true, intervalSec: 300, wakeOnDemand: false }
    const { runtimeConfig } = await created(world, { runtimeConfig: { heartbeat } })
    for (const [key, value] of Object.entries(heartbeat)) assert.equal(runtimeConfig.heartbeat[key], value)
    await refused(world, { runtimeConfig: { heartbeat: { intervalSec: 1.5 } } })
  },
  'New agent: budgetMonthlyCents': async (world) => {
    assert.equal((await created(world, { budgetMonthlyCents: 5_000 })).budgetMonthlyCents, 5_000)
    await refused(world, { budgetMonthlyCents: 0.5 })
  },
  'New agent: sourceIssueId is the issue that motivated the hire, or null': async (world) => {
    await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
    const { id } = await world.issue()
    const { approval } = await world.thing('agent-hires', { name: 'Nia', sourceIssueId: id })
    const linked = await good(world.request('GET', `/api/approvals/${approval.id}/issues`))
    assert.deepEqual(
      linked.map((issue: { id: string }) => issue.id),
      [id],
    )
    await world.thing('agent-hires', { name: 'Nia', sourceIssueId: null })
  },
  'New agent: sourceIssueIds are several such issues': async (world) => {
    await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
    const ids = [(await world.issue()).id, (await world.issue()).id]
    const { approval } = await world.thing('agent-hires', { name: 'Nia', sourceIssueIds: ids })
    assert.equal((await good(world.request('GET', `/api/approvals/${approval.id}/issues`))).length, 2)
  },
  'Configuration reads redact obvious secrets': async (world) => {
    const adapterConfig = { env: { TIDE: SECRET }, extraArgs: ['--api-key', SECRET] }
    const { id } = await created(world, { adapterConfig, metadata: { password: SECRET } })
    for (const path of [`/api/agents/${id}`, `/api/agents/${id}/configuration`, `/api/agents/${id}/config-revisions`]) {
      assert.ok(!JSON.stringify(await good(world.request('GET', path))).includes(SECRET), path)
    }
    for (const path of ['/agents', '/agent-configurations', '/activity']) {
      assert.ok(!JSON.stringify(await good(world.request('GET', world.of(path)))).includes(SECRET), path)
    }
  },
})

contract('Agent transitions', {
  'Hire: where policy requires approval the agent is pending_approval, with a pending hire_agent approval linked':
    async (world) => {
      await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
      const { agent, approval } = await world.thing('agent-hires', { name: 'Nia' })
      assert.equal(agent.status, 'pending_approval')
      assert.deepEqual([approval.type, approval.status], ['hire_agent', 'pending'])
      assert.equal((await good(world.request('GET', `/api/approvals/${approval.id}`))).payload.agentId, agent.id)
    },
  'Hire: where policy requires none the agent is idle and the approval null': async (world) => {
    const { agent, approval } = await world.thing('agent-hires', { name: 'Nia' })
    assert.deepEqual([agent.status, approval], ['idle', null])
  },
  'Hire: approved, the agent becomes idle': async (world) => {
    assert.equal(await afterDecision(world, 'approve'), 'idle')
  },
  'Hire: rejected, the agent becomes terminated': async (world) => {
    assert.equal(await afterDecision(world, 'reject'), 'terminated')
  },
  'Rule: a pending agent cannot run heartbeats, receive assignments or create keys': async (world) => {
    await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
    const { id } = (await world.thing('agent-hires', { name: 'Nia' })).agent
    assert.equal(await statusOf(world.request('POST', `/api/agents/${id}/heartbeat/invoke`)), 422)
    assert.equal(await statusOf(world.request('POST', `/api/agents/${id}/keys`)), 422)
    const assigned = { title: 'Count', assigneeAgentId: id }
    assert.equal(await statusOf(world.request('POST', world.of('/issues'), assigned)), 422)
    const issue = await world.issue()
    assert.equal(await statusOf(world.request('PATCH', `/api/issues/${issue.id}`, { assigneeAgentId: id })), 422)
    assert.equal(await statusOf(world.request('POST', `/api/issues/${issue.id}/checkout`, { agentId: id })), 422)
    await world.request('POST', `/api/issues/${issue.id}/comments`, { body: '@Nia look.' })
    assert.deepEqual(wakeReasons(world.ctx, { id }), [])
  },
  'Rule: an agent is paused when its spend reaches its budget': async (world) => {
    await reachBudget(world, 100)
    const { status, pauseReason } = await ada(world)
    assert.deepEqual([status, pauseReason], ['paused', 'budget'])
  },
})

contract('Agent endpoints', {
  'GET /api/agents/me': async ({ engineer, request }) => {
    const { id, chainOfCommand } = await good(engineer.request('GET', '/api/agents/me'))
    assert.deepEqual([id, chainOfCommand.length], [engineer.id, 2])
    assert.equal(await statusOf(request('GET', '/api/agents/me')), 403)
  },
  'GET /api/agents/:agentId': async ({ colleague, engineer, request }) => {
    assert.equal((await good(colleague.request('GET', `/api/agents/${engineer.id}`))).chainOfCommand.length, 2)
    assert.equal(await statusOf(request('GET', `/api/agents/${uuid()}`)), 404)
  },
  'GET /api/companies/:companyId/agents': async ({ engineer, of }) => {
    const names = (await good(engineer.request('GET', of('/agents')))).map((agent: { name: string }) => agent.name)
    assert.deepEqual(names, ['Cleo', 'Mia', 'Ada', 'Bob'])
  },
  'GET /api/companies/:companyId/org': async ({ engineer, of }) => {
    const tree = await good(engineer.request('GET', of('/org')))
    const shape = (nodes: { name: string; reports: never[] }[]): unknown =>
      nodes.map((node) => [node.name, shape(node.reports)])
    assert.deepEqual(shape(tree), [
      [
        'Cleo',
        [
          ['Mia', [['Ada', []]]],
          ['Bob', []],
        ],
      ],
    ])
  },
  'POST /api/agents/:agentId/keys': async ({ make, request, as, engineer }) => {
    const { id, token } = await make('POST', `/api/agents/${engineer.id}/keys`, { name: 'laptop' })
    assert.equal((await as(token)('GET', '/api/agents/me')).status, 200)
    const listed = await good(request('GET', `/api/agents/${engineer.id}/keys`))
    const displayed = listed.find((key: { id: string }) => key.id === id)
    assert.ok(token.startsWith(displayed.prefix) && !('token' in displayed))
  },
  'PATCH /api/agents/:agentId/instructions-path': async ({ engineer, request }) => {
    const path = `/api/agents/${engineer.id}/instructions-path`
    const config = async () => (await good(request('GET', `/api/agents/${engineer.id}/configuration`))).adapterConfig
    await good(engineer.request('PATCH', path, { path: '/srv/A.md' }))
    assert.equal((await config()).instructionsFilePath, '/srv/A.md')
    await good(engineer.request('PATCH', path, { path: null }))
    assert.equal((await config()).instructionsFilePath, undefined)
    assert.equal(await statusOf(engineer.request('PATCH', path, {})), 400)
  },
  'GET /api/agents/:agentId/configuration': async (world) => {
    const adapterConfig = { cwd: '/srv', env: { TIDE: SECRET } }
    const { id } = await created(world, { adapterConfig })
    const configuration = await good(world.engineer.request('GET', `/api/agents/${id}/configuration`))
    assert.equal(configuration.adapterConfig.cwd, '/srv')
    assert.ok(!JSON.stringify(configuration).includes(SECRET))
  },
  'GET /api/companies/:companyId/agent-configurations': async (world) => {
    await created(world, { adapterConfig: { env: { TIDE: SECRET } } })
    const configurations = await good(world.engineer.request('GET', world.of('/agent-configurations')))
    assert.equal(configurations.length, 5)
    assert.ok(!JSON.stringify(configurations).includes(SECRET))
  },
  'GET /api/agents/:agentId/config-revisions': async (world) => {
    const { id } = await created(world, { adapterConfig: { cwd: '/one' } })
    await world.make('PATCH', `/api/agents/${id}`, { adapterConfig: { cwd: '/two' } })
    const [latest, first] = await good(world.request('GET', `/api/agents/${id}/config-revisions`))
    assert.deepEqual([latest.beforeConfig.adapterConfig.cwd, latest.afterConfig.adapterConfig.cwd], ['/one', '/two'])
    assert.equal(first.source, 'create')
  },
  'POST /api/agents/:agentId/config-revisions/:revisionId/rollback': async (world) => {
    const { id } = await created(world, { adapterConfig: { cwd: '/one' } })
    await world.make('PATCH', `/api/agents/${id}`, { adapterConfig: { cwd: '/two' } })
    const [, first] = await good(world.request('GET', `/api/agents/${id}/config-revisions`))
    const path = `/api/agents/${id}/config-revisions/${first.id}/rollback`
    assert.equal((await world.make('POST', path)).adapterConfig.cwd, '/one')
    assert.equal((await good(world.request('GET', `/api/agents/${id}/config-revisions`)))[0].source, 'rollback')
    assert.equal(await statusOf(world.request('POST', path.replace(first.id, uuid()))), 404)
  },
  'POST /api/agents/:agentId/skills/sync': async ({ make, engineer, stranger }) => {
    await make('POST', `/api/agents/${engineer.id}/skills/sync`)
    assert.equal(await statusOf(stranger.request('POST', `/api/agents/${engineer.id}/skills/sync`)), 404)
  },
  'POST /api/companies/:companyId/agents': async (world) => {
    const agent = await created(world, { role: 'cto', reportsTo: world.ceo.id })
    assert.deepEqual([agent.name, agent.status, agent.role], ['Nia', 'idle', 'cto'])
    await refused(world, { naem: 'typo' })
  },
  'POST /api/companies/:companyId/agent-hires': async (world) => {
    await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
    const { agent, approval } = await good(world.manager.request('POST', world.of('/agent-hires'), { name: 'Nia' }))
    assert.match(agent.id, UUID)
    assert.deepEqual([agent.status, approval.type, approval.status], ['pending_approval', 'hire_agent', 'pending'])
    assert.deepEqual(approval.payload.desiredSkills, [])
  },
  'Instructions path: the agent itself and its ancestor managers may set it': async (world) => {
    const { engineer, manager, ceo, colleague } = world
    for (const [by, status] of [
      [engineer, 200],
      [manager, 200],
      [ceo, 200],
      [colleague, 403],
    ] as const) {
      const path = `/api/agents/${engineer.id}/instructions-path`
      assert.equal(await statusOf(by.request('PATCH', path, { path: `/srv/${by.name}.md` })), status, by.name)
    }
  },
  'Instructions path: the local adapters keep it under adapterConfig.instructionsFilePath': async (world) => {
    for (const adapterType of ['runtimeA_local', 'runtimeB_local']) {
      const { id } = await created(world, { adapterType })
      await world.make('PATCH', `/api/agents/${id}/instructions-path`, { path: '/srv/A.md' })
      const { adapterConfig } = await good(world.request('GET', `/api/agents/${id}`))
      assert.deepEqual(adapterConfig, { instructionsFilePath: '/srv/A.md' })
    }
    const { id } = await created(world, { adapterType: 'process', adapterConfig: { command: 'true' } })
    const path = `/api/agents/${id}/instructions-path`
    assert.equal(await statusOf(world.request('PATCH', path, { path: '/srv/A.md' })), 422, 'it has no default key')
  },
  'Instructions path: a relative one resolves against cwd, an absolute one is stored as given': async (world) => {
    const { id } = await created(world, { adapterConfig: { cwd: '/srv/desk' } })
    const set = async (path: string) =>
      (await world.make('PATCH', `/api/agents/${id}/instructions-path`, { path })).path
    assert.equal(await set('docs/A.md'), '/srv/desk/docs/A.md')
    assert.equal(await set('/etc/../A.md'), '/etc/../A.md')
  },
})

contract('Limits', {
  'Limit: one assignee per issue': async ({ issue, make, engineer, request, of }) => {
    const { id } = await issue({ assigneeAgentId: engineer.id })
    const { assigneeAgentId, assigneeUserId } = await make('PATCH', `/api/issues/${id}`, { assigneeUserId: 'ann' })
    assert.deepEqual([assigneeAgentId, assigneeUserId], [null, 'ann'])
    const both = { title: 'Two', assigneeAgentId: engineer.id, assigneeUserId: 'ann' }
    assert.equal(await statusOf(request('POST', of('/issues'), both)), 422)
  },
  'Limit: an agent is warned above 80 % of its budget and paused at 100 %': async (world) => {
    await reachBudget(world, 79)
    assert.equal((await ada(world)).budgetStatus, 'ok')
    await spend(world, 2)
    assert.deepEqual([(await ada(world)).budgetStatus, (await ada(world)).status], ['warning', 'idle'])
    await spend(world, 19)
    assert.equal((await ada(world)).status, 'paused')
  },
  'Limit: a logo is one multipart field named file': async ({ request, of }) => {
    const named = (name: string) => {
      const form = new FormData()
      form.set(name, new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'logo.svg'))
      return statusOf(request('POST', of('/logo'), form))
    }
    assert.deepEqual([await named('file'), await named('logo')], [201, 400])
    assert.equal(await statusOf(request('POST', of('/logo'), { file: 'x' })), 415)
  },
  'Limit: the issuePrefix of a company is immutable': async ({ request, ceo, of, company }) => {
    for (const by of [request, ceo.request]) {
      const { status, body } = await by('PATCH', of(''), { issuePrefix: 'NEW' })
      assert.equal(status, 400)
      assert.match(body.error, /immutable/)
    }
    assert.equal((await good(request('GET', of('')))).issuePrefix, company.issuePrefix)
  },
  'Limit: a workspace has at least one of cwd and repoUrl': async ({ request, thing }) => {
    const { id } = await thing('projects', { name: 'Atlas' })
    assert.equal(await statusOf(request('POST', `/api/projects/${id}/workspaces`, { name: 'none' })), 400)
  },
  'Limit: an export preview has issues false by default': async (world) => {
    await world.issue({ title: 'Left out' })
    assert.ok(!JSON.stringify(await good(world.request('POST', world.of('/exports/preview'), {}))).includes('Left out'))
  },
})

/** The status of an agent like Ada after the board has decided on the hire. */
async function afterDecision(world: World, verb: 'approve' | 'reject'): Promise<string> {
  await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
  const { agent, approval } = await world.thing('agent-hires', { name: 'Nia' })
  await world.make('POST', `/api/approvals/${approval.id}/${verb}`)
  return (await good(world.request('GET', `/api/agents/${agent.id}`))).status
}

/** Gives Ada a budget of 100 cents and records a cost. */
async function reachBudget(world: World, cents: number) {
  await world.make('PATCH', `/api/agents/${world.engineer.id}/budgets`, { budgetMonthlyCents: 100 })
  await spend(world, cents)
}

const spend = (world: World, costCents: number) =>
  world.make('POST', world.of('/cost-events'), { agentId: world.engineer.id, provider: 'p', model: 'm', costCents })
