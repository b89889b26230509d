import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { findRun, listLiveRuns } from '../../../src/organization/run/queries.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import type { Config } from '../../../src/platform/config.ts'
import { NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import { claimRuns } from '../../../src/runtime/scheduler/claim.ts'
import { asAgent } from '../../arrange.ts'
import { createTestApp, type SendRequest, type TestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

const PROGRAM = { adapterType: 'process', adapterConfig: { command: '/bin/true' } }

/** Creates two agents, and an issue for their comments. */
async function arrange(t: TestContext, config: Partial<Config>) {
  const app = createTestApp(t, { maxRuns: 4, loopRuns: 0, ...config })
  const companyId = await makeCompany(app)
  const ann = await makeAgent(app, companyId, { name: 'Ann', ...PROGRAM })
  const ben = await makeAgent(app, companyId, { name: 'Ben', ...PROGRAM })
  const issue = await app.make('POST', `/api/companies/${companyId}/issues`, { title: 'Talk' })
  return { app, companyId, ann, ben, issue }
}

type Arranged = Awaited<ReturnType<typeof arrange>>

const claim = ({ ctx }: TestApp) => ctx.write(() => claimRuns(ctx))

/** Ends the live run of an agent. */
async function end({ ctx }: TestApp, agentId: string) {
  for (const run of listLiveRuns(ctx.db, { agentId })) {
    const ending = { reason: 'exited' as const, exitCode: 0, signal: null, error: null, at: null }
    await ctx.write(() => finishRun(ctx, run.id, ending, NO_FACTS))
  }
}

/** Makes the two agents mention each other in turn, each in the run that the last mention started. @returns the number of runs */
async function mentionEachOther({ app, ann, ben, issue }: Arranged, times: number): Promise<number> {
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ann look' })
  let runs = (await claim(app)).length
  for (let turn = 0, [from, to] = [ann, ben]; turn < times; turn++, [from, to] = [to, from]) {
    if (listLiveRuns(app.ctx.db, { agentId: from.id }).length === 0) return runs
    const request = await asAgent(app, from)
    await request('POST', `/api/issues/${issue.id}/comments`, { body: `@${to.name} look` })
    await end(app, from.id)
    runs += (await claim(app)).length
  }
  return runs
}

const agentOf = async (app: TestApp, id: string) => (await app.request('GET', `/api/agents/${id}`)).body

test('two agents that mention each other in a loop are paused, and their wake waits', async (t) => {
  const arranged = await arrange(t, { maxWakeDepth: 6 })
  const { app, ann, ben } = arranged
  assert.equal(await mentionEachOther(arranged, 20), 6, 'the person and five mentions')
  for (const [{ id }, other] of [
    [ann, 'Ben'],
    [ben, 'Ann'],
  ] as const) {
    const paused = await agentOf(app, id)
    assert.deepEqual([paused.status, paused.pauseReason], ['paused', 'loop'])
    assert.match(paused.pauseMessage, new RegExp(`6 times in a row .*with ${other}, which indicates a loop`))
  }
  const actions = (await app.request('GET', `/api/companies/${arranged.companyId}/activity?action=agent.paused`)).body
  assert.equal(actions.length, 2)
  assert.ok(findWaitingWake(app.ctx.db, { agentId: ann.id }))

  await app.make('POST', `/api/agents/${ann.id}/resume`)
  const [run] = await claim(app)
  assert.deepEqual([run?.agent_id, run?.depth], [ann.id, 0], 'the resume is the act of a person')
})

/** Runs an action as each agent in turn, in the run that the previous action caused. @returns the number of runs */
async function actInTurn(
  app: TestApp,
  agents: { id: string }[],
  act: (request: SendRequest, turn: number) => Promise<unknown>,
) {
  let runs = (await claim(app)).length
  for (let turn = 0; turn < 30; turn++) {
    const { id } = agents[turn % agents.length]!
    if (listLiveRuns(app.ctx.db, { agentId: id }).length === 0) break
    await act(await asAgent(app, { id }), turn)
    await end(app, id)
    runs += (await claim(app)).length
  }
  return runs
}

const pausedAgents = async (app: TestApp, companyId: string) =>
  (await app.request('GET', `/api/companies/${companyId}/agents`)).body.filter(
    (agent: { pauseReason: string | null }) => agent.pauseReason === 'loop',
  ).length

test('three agents that mention each other in a loop are paused', async (t) => {
  const { app, companyId, ann, ben, issue } = await arrange(t, { maxWakeDepth: 6 })
  const cid = await makeAgent(app, companyId, { name: 'Cid', ...PROGRAM })
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ann look' })
  const names = ['Ben', 'Cid', 'Ann']
  const runs = await actInTurn(app, [ann, ben, cid], (request, turn) =>
    request('POST', `/api/issues/${issue.id}/comments`, { body: `@${names[turn % 3]} look` }),
  )
  assert.equal(runs, 6)
  assert.equal(await pausedAgents(app, companyId), 2, 'the last one and the one that woke it')
})

test('agents that mention two others each in a loop are paused', async (t) => {
  const { app, companyId, ann, ben, issue } = await arrange(t, { maxWakeDepth: 4 })
  const cid = await makeAgent(app, companyId, { name: 'Cid', ...PROGRAM })
  const agents = [ann, ben, cid]
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ann look' })
  let runs = 0
  for (let round = 0; round < 30; round++) {
    const claimed = await claim(app)
    if (claimed.length === 0) break
    runs += claimed.length
    for (const { agent_id } of claimed) {
      const request = await asAgent(app, { id: agent_id })
      const others = agents.filter(({ id }) => id !== agent_id).map(({ name }) => `@${name}`)
      await request('POST', `/api/issues/${issue.id}/comments`, { body: `${others.join(' ')} look` })
      await end(app, agent_id)
    }
  }
  assert.ok(runs <= 12, `${runs} runs`)
})

test('agents that create issues for each other in a loop are paused', async (t) => {
  const { app, companyId, ann, ben } = await arrange(t, { maxWakeDepth: 6 })
  const create = (request: SendRequest, to: { id: string }, more: object = {}) =>
    request('POST', `/api/companies/${companyId}/issues`, {
      title: 'More',
      assigneeAgentId: to.id,
      status: 'todo',
      ...more,
    })
  let parentId: string = (await create(app.request, ann)).body.id
  const runs = await actInTurn(app, [ann, ben], async (request, turn) => {
    const { status, body } = await create(request, turn % 2 === 0 ? ben : ann, { parentId })
    assert.equal(status, 201)
    parentId = body.id
  })
  assert.equal(runs, 6)
  assert.equal(await pausedAgents(app, companyId), 2)
})

test('unblocking an issue and finishing the children of a parent continue the wake chain', async (t) => {
  const { app, companyId, ann, ben } = await arrange(t, {})
  const create = (body: object) => app.make('POST', `/api/companies/${companyId}/issues`, { status: 'todo', ...body })
  const parent = await create({ title: 'Parent', assigneeAgentId: ben.id })
  const child = await create({ title: 'Child', parentId: parent.id, assigneeAgentId: ann.id })
  await create({ title: 'Blocked', blockedByIssueIds: [child.id], assigneeAgentId: ben.id })
  const claimed = await claim(app)
  assert.deepEqual(
    claimed.map((run) => run.depth),
    claimed.map(() => 0),
  )
  await end(app, ben.id)
  const request = await asAgent(app, ann)
  await request('POST', `/api/issues/${child.id}/checkout`, { expectedStatuses: ['todo'] })
  assert.equal((await request('PATCH', `/api/issues/${child.id}`, { status: 'done' })).status, 200)
  const wake = findWaitingWake(app.ctx.db, { agentId: ben.id })!
  const sources = JSON.parse(wake.reasons).map((reason: { source: string }) => reason.source)
  assert.deepEqual([sources.sort(), wake.depth], [['blockers_resolved', 'children_done'], 1])
})

test('a comment of a person resets the wake chain', async (t) => {
  const arranged = await arrange(t, { maxWakeDepth: 6 })
  assert.equal(await mentionEachOther(arranged, 4), 5)
  await end(arranged.app, arranged.ann.id)
  assert.equal(await mentionEachOther(arranged, 4), 5)
  assert.equal((await agentOf(arranged.app, arranged.ann.id)).status, 'running')
})

test('a mention with an agent key continues the wake chain of the latest run', async (t) => {
  const { app, ann, ben, issue } = await arrange(t, {})
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ann look' })
  await claim(app)
  const { token } = await app.make('POST', `/api/agents/${ann.id}/keys`)
  await app.as(token)('POST', `/api/issues/${issue.id}/comments`, { body: '@Ben look' })
  const [run] = await claim(app)
  assert.deepEqual([run?.agent_id, run?.depth], [ben.id, 1])
  assert.equal(findRun(app.ctx.db, { id: run!.id })?.depth, 1)
})

test('limits the runs of an issue per hour; later wakes wait', async (t) => {
  const arranged = await arrange(t, { issueRunsPerHour: 3 })
  const { app, ann, issue } = arranged
  const mention = async () => {
    await app.make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ann look' })
    const claimed = await claim(app)
    await end(app, ann.id)
    app.clock.move(60_000)
    return claimed.length
  }
  assert.deepEqual([await mention(), await mention(), await mention(), await mention()], [1, 1, 1, 0])
  assert.equal(findWaitingWake(app.ctx.db, { agentId: ann.id })?.not_before, '2026-11-21T10:00:00.000Z')
  const { body } = await app.request('GET', `/api/companies/${arranged.companyId}/activity?action=issue.runs_limited`)
  assert.equal(body.length, 1)
  app.clock.set('2026-11-21T10:00:00.000Z')
  assert.equal((await claim(app)).length, 1)
})
