import assert from 'node:assert/strict'
import { wakeReasons } from '../arrange.ts'
import { createTestRuns } from '../runs.ts'
import { contract } from './contract.ts'
import { good, statusOf, type World } from './world.ts'

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** The approval that the CEO requests for its strategy. */
const strategy = async ({ ceo, of }: World, more: object = {}) =>
  good(ceo.request('POST', of('/approvals'), { type: 'approve_ceo_strategy', payload: { plan: 'Grow' }, ...more }))

const actionsOf = async ({ request, of }: World): Promise<string[]> =>
  (await good(request('GET', of('/activity')))).map(({ action }: { action: string }) => action)

contract('Approval', {
  'Approval.id is the identifier': async (world) => {
    const { id } = await strategy(world)
    assert.equal((await good(world.request('GET', `/api/approvals/${id}`))).id, id)
  },
  'Approval.type is hire_agent or approve_ceo_strategy': async (world) => {
    assert.equal((await strategy(world)).type, 'approve_ceo_strategy')
    assert.equal((await world.thing('approvals', { type: 'hire_agent' })).type, 'hire_agent')
    assert.equal(await statusOf(world.request('POST', world.of('/approvals'), { type: 'other' })), 400)
  },
  'Approval.status is pending, revision_requested, approved, rejected or cancelled': async (world) => {
    assert.equal((await strategy(world)).status, 'pending')
    for (const [verb, status] of [
      ['request-revision', 'revision_requested'],
      ['approve', 'approved'],
      ['reject', 'rejected'],
      ['cancel', 'cancelled'],
    ]) {
      const { id } = await strategy(world)
      assert.equal((await world.make('POST', `/api/approvals/${id}/${verb}`)).status, status)
    }
  },
  'Approval.requestedByAgentId is given on creation': async (world) => {
    const requestedByAgentId = world.ceo.id
    assert.equal((await strategy(world, { requestedByAgentId })).requestedByAgentId, requestedByAgentId)
  },
  'Approval.payload is free-form: desiredSkills of a hire, plan of a strategy': async (world) => {
    assert.deepEqual((await strategy(world)).payload, { plan: 'Grow' })
    const payload = { desiredSkills: ['tides'], why: { deep: [1] } }
    assert.deepEqual((await world.thing('approvals', { type: 'hire_agent', payload })).payload, payload)
  },
})

contract('Approval endpoints', {
  'GET /api/companies/:companyId/approvals': async (world) => {
    const open = await strategy(world)
    const rejected = await strategy(world)
    await world.make('POST', `/api/approvals/${rejected.id}/reject`)
    const list = async (query: string) => ids(await good(world.engineer.request('GET', world.of(`/approvals${query}`))))
    assert.deepEqual((await list('')).toSorted(), ids([open, rejected]).toSorted())
    assert.deepEqual(await list('?status=pending'), [open.id])
  },
  'POST /api/companies/:companyId/approvals': async (world) => {
    const { type, requestedByAgentId, payload } = await strategy(world, { requestedByAgentId: world.ceo.id })
    assert.deepEqual([type, requestedByAgentId, payload], ['approve_ceo_strategy', world.ceo.id, { plan: 'Grow' }])
    const asAnother = { type: 'hire_agent', requestedByAgentId: world.ceo.id }
    assert.equal(await statusOf(world.manager.request('POST', world.of('/approvals'), asAnother)), 403)
  },
  'GET /api/approvals/:approvalId': async (world) => {
    const approval = await strategy(world)
    assert.deepEqual(await good(world.engineer.request('GET', `/api/approvals/${approval.id}`)), approval)
    assert.equal(await statusOf(world.stranger.request('GET', `/api/approvals/${approval.id}`)), 404)
  },
  'GET /api/approvals/:approvalId/issues': async (world) => {
    const issue = await world.issue()
    const { id } = await strategy(world, { issueIds: [issue.id] })
    assert.deepEqual(ids(await good(world.engineer.request('GET', `/api/approvals/${id}/issues`))), [issue.id])
  },
  'GET /api/approvals/:approvalId/comments': async (world) => {
    const { id } = await strategy(world)
    const made = await world.make('POST', `/api/approvals/${id}/comments`, { body: 'Why?' })
    assert.deepEqual(await good(world.engineer.request('GET', `/api/approvals/${id}/comments`)), [made])
  },
  'POST /api/approvals/:approvalId/comments': async (world) => {
    const { id } = await strategy(world)
    const { status, body } = await world.ceo.request('POST', `/api/approvals/${id}/comments`, { body: 'Because.' })
    assert.deepEqual([status, body.body, body.authorAgentId], [201, 'Because.', world.ceo.id])
  },
  'POST /api/approvals/:approvalId/request-revision': async (world) => {
    const { id } = await strategy(world)
    const path = `/api/approvals/${id}/request-revision`
    assert.equal(await statusOf(world.ceo.request('POST', path)), 403)
    assert.equal((await world.make('POST', path, { decisionNote: 'Too fast.' })).status, 'revision_requested')
  },
  'POST /api/approvals/:approvalId/resubmit': async (world) => {
    const { id } = await strategy(world)
    await world.make('POST', `/api/approvals/${id}/request-revision`)
    const path = `/api/approvals/${id}/resubmit`
    assert.equal(await statusOf(world.manager.request('POST', path)), 403)
    const { status, payload } = await good(world.ceo.request('POST', path, { payload: { plan: 'Grow slowly' } }))
    assert.deepEqual([status, payload], ['pending', { plan: 'Grow slowly' }])
  },
})

contract('Other records', {
  'Record: config revisions are per agent': async ({ make, thing, request }) => {
    const { id } = await thing('agents', { name: 'Nia' })
    await make('PATCH', `/api/agents/${id}`, { title: 'Counter' })
    const revisions = await good(request('GET', `/api/agents/${id}/config-revisions`))
    assert.deepEqual(
      revisions.map((revision: { agentId: string; source: string }) => [revision.agentId, revision.source]),
      [
        [id, 'patch'],
        [id, 'create'],
      ],
    )
  },
  'Record: skills are per company': async ({ engineer, stranger, of }) => {
    assert.ok(Array.isArray(await good(engineer.request('GET', of('/skills')))))
    assert.equal(await statusOf(stranger.request('GET', of('/skills'))), 403)
  },
  'Record: cost summaries': async ({ request, of, company }) => {
    assert.equal((await good(request('GET', of('/costs/summary')))).companyId, company.id)
  },
  'Record: activity entries': async (world) => {
    const { id } = await world.issue()
    const [latest] = await good(world.request('GET', world.of('/activity')))
    assert.deepEqual([latest.action, latest.entityId, latest.actorType], ['issue.created', id, 'user'])
  },
  'Record: the dashboard has agent counts, task counts, spend and stale tasks': async (world) => {
    await world.issue({ status: 'blocked' })
    await world.make('POST', world.of('/cost-events'), {
      agentId: world.engineer.id,
      provider: 'p',
      model: 'm',
      costCents: 25,
    })
    const { agents, tasks, costs, staleTasks } = await good(world.request('GET', world.of('/dashboard')))
    assert.deepEqual([agents.running, tasks.blocked, costs.monthSpendCents, Number(staleTasks)], [0, 1, 25, 0])
  },
})

contract('Cost and activity endpoints', {
  'GET /api/companies/:companyId/costs/summary': async (world) => {
    await spendOf(world)
    const { spendCents, budgetCents } = await good(world.engineer.request('GET', world.of('/costs/summary')))
    assert.deepEqual([spendCents, budgetCents], [150, 0])
  },
  'GET /api/companies/:companyId/costs/by-agent': async (world) => {
    await spendOf(world)
    const costs = await good(world.engineer.request('GET', world.of('/costs/by-agent')))
    assert.deepEqual(
      costs.map((cost: { agentName: string; costCents: number }) => [cost.agentName, cost.costCents]),
      [
        ['Mia', 100],
        ['Ada', 50],
      ],
    )
  },
  'GET /api/companies/:companyId/costs/by-project': async (world) => {
    await spendOf(world)
    const costs = await good(world.engineer.request('GET', world.of('/costs/by-project')))
    assert.deepEqual(
      costs.map((cost: { projectName: string | null; costCents: number }) => [cost.projectName, cost.costCents]),
      [
        ['Atlas', 100],
        [null, 50],
      ],
    )
  },
  'GET /api/companies/:companyId/activity': async (world) => {
    await world.issue()
    const entries = await good(world.engineer.request('GET', world.of('/activity')))
    assert.equal(entries[0].action, 'issue.created')
    assert.equal(await statusOf(world.stranger.request('GET', world.of('/activity'))), 403)
  },
  'Hiring: only managers and the CEO request hires, and policy puts a pending hire_agent approval in the answer':
    async (world) => {
      await world.make('PATCH', world.of(''), { requireBoardApprovalForNewAgents: true })
      for (const { request } of [world.ceo, world.manager]) {
        const { approval } = await good(request('POST', world.of('/agent-hires'), { name: 'Nia' }))
        assert.deepEqual([approval.type, approval.status], ['hire_agent', 'pending'])
      }
      assert.equal(await statusOf(world.engineer.request('POST', world.of('/agent-hires'), { name: 'Nia' })), 403)
    },
})

/** Mia spends a dollar on a project, and Ada half a dollar without a project. */
async function spendOf({ make, of, thing, manager, engineer }: World) {
  const { id: projectId } = await thing('projects', { name: 'Atlas' })
  const event = { provider: 'p', model: 'm' }
  await make('POST', of('/cost-events'), { ...event, agentId: manager.id, projectId, costCents: 100 })
  await make('POST', of('/cost-events'), { ...event, agentId: engineer.id, costCents: 50 })
}

contract('Events', {
  'Event: an @-mention triggers a heartbeat of the agent': async (_, t) => {
    const { agentThat, make, companyId, runUntilIdle, runs } = await createTestRuns(t)
    const agentId = await agentThat('succeed.js')
    const { id } = await make('POST', `/api/companies/${companyId}/issues`, { title: 'Look' })
    await make('POST', `/api/issues/${id}/comments`, { body: '@succeed.js look.' })
    await runUntilIdle()
    const [run] = await runs()
    assert.deepEqual([run.agentId, run.invocationSource, run.issueId], [agentId, 'mention', id])
  },
  'Event: a resolved approval wakes the agent that asked, with its id, status and linked issues in the environment':
    async (_, t) => {
      const { agentThat, make, request, companyId, runUntilIdle, runs } = await createTestRuns(t)
      const agentId = await agentThat('echo-env.js')
      await make('PATCH', `/api/agents/${agentId}`, { role: 'ceo' })
      const { id: issueId } = await make('POST', `/api/companies/${companyId}/issues`, { title: 'Plan' })
      const approval = await make('POST', `/api/companies/${companyId}/approvals`, {
        type: 'approve_ceo_strategy',
        requestedByAgentId: agentId,
        payload: { plan: 'Grow' },
        issueIds: [issueId],
      })
      await make('POST', `/api/approvals/${approval.id}/approve`)
      await runUntilIdle()
      const [run] = await runs()
      const { env } = JSON.parse((await request('GET', `/api/runs/${run.id}/log`)).body.text)
      const { SERVICE_APPROVAL_ID, SERVICE_APPROVAL_STATUS, SERVICE_LINKED_ISSUE_IDS } = env
      const received = [SERVICE_APPROVAL_ID, SERVICE_APPROVAL_STATUS, SERVICE_LINKED_ISSUE_IDS]
      assert.deepEqual(received, [approval.id, 'approved', issueId])
    },
  'Event: any action is recorded in the activity log': async (world) => {
    const { make, issue, thing, engineer, ctx } = world
    const { id } = await issue()
    await good(engineer.request('POST', `/api/issues/${id}/checkout`, { agentId: engineer.id }))
    await good(engineer.request('PATCH', `/api/issues/${id}`, { status: 'done', comment: 'Done.' }))
    await thing('goals', { title: 'Know the sea' })
    await thing('projects', { name: 'Atlas', workspace: { cwd: '/a' } })
    const approval = await strategy(world)
    await make('POST', `/api/approvals/${approval.id}/approve`)
    await thing('agents', { name: 'Nia' })
    await make('PATCH', world.of(''), { name: 'Walrus & Co' })
    const actions = await actionsOf(world)
    for (const action of [
      'issue.created',
      'issue.checked_out',
      'issue.updated',
      'issue.commented',
      'goal.created',
      'project.created',
      'approval.created',
      'approval.approved',
      'agent.created',
      'company.updated',
    ]) {
      assert.ok(actions.includes(action), `${action} in ${actions}`)
    }
    assert.equal(wakeReasons(ctx, world.ceo)[0]?.approvalId, approval.id)
  },
})
