import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createClient } from '../../../src/clients/client/client.ts'
import { ISSUE_COUNT, ROOT_ISSUE, TEAM } from '../../../src/clients/demo/company.ts'
import type { Api } from '../../../src/clients/demo-agent/api.ts'
import { heartbeat } from '../../../src/clients/demo-agent/heartbeat.ts'
import { temporaryFolder } from '../../helpers.ts'
import { createStub, fetchFrom, type Stub } from './stub.ts'

interface Office {
  stub: Stub
  workspace: string
  root: { id: string; status: string }
  /** Runs one heartbeat of an agent and returns its messages. */
  wake(name: string, env?: Record<string, string>, api?: (api: Api) => Api): Promise<string[]>
}

function openOffice(t: TestContext): Office {
  const stub = createStub()
  const workspace = temporaryFolder(t)
  const idOf = (name: string | null) => stub.agents.find((agent) => agent.name === name)?.id ?? null
  for (const { name, role, reportsTo } of TEAM) stub.add('agents', { name, role, reportsTo: idOf(reportsTo) })
  const root = stub.add('issues', { ...ROOT_ISSUE, assigneeAgentId: idOf('Ada') })
  return {
    stub,
    workspace,
    root,
    async wake(name, env = {}, wrap = (api) => api) {
      const printed: string[] = []
      const api = wrap(createClient({ url: stub.url, credential: idOf(name), fetch: fetchFrom(stub) }))
      await heartbeat({
        api,
        env: { ...env, SERVICE_WORKSPACE_CWD: workspace },
        pace: 0,
        say: (text) => printed.push(text),
      })
      return printed
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: it replaces requests to any endpoint.
type AnyRequest = (name: any, options?: any) => Promise<any>

const withRequest = (api: Api, request: AnyRequest): Api => ({ ...api, request })

/** Wakes all agents in turn and approves their requests, until a whole round changes nothing. */
async function workUntilQuiet(office: Office, wrap?: (api: Api) => Api): Promise<void> {
  const picture = () => JSON.stringify([office.stub.issues, office.stub.comments, office.stub.approvals])
  for (let round = 0; round < 20; round++) {
    const before = picture()
    let killed = false
    for (const { name } of TEAM) {
      await office.wake(name, {}, wrap).catch((error) => {
        assert.equal(error.message, 'killed')
        killed = true
      })
      for (const approval of office.stub.approvals) approval.status = 'approved'
    }
    if (picture() === before && !killed) return
  }
  assert.fail('the agents never come to rest')
}

test('a CEO requests approval of its strategy once, and delegates nothing before it is approved', async (t) => {
  const office = openOffice(t)
  await office.wake('Ada')
  await office.wake('Ada')
  assert.equal(office.stub.approvals.length, 1)
  assert.equal(office.stub.approvals[0].type, 'approve_ceo_strategy')
  assert.match(office.stub.approvals[0].payload.plan, /Mara \(manager\) and Rhea \(researcher\)/)
  assert.deepEqual(office.stub.approvals[0].issueIds, [office.root.id])
  assert.equal(office.stub.issues.length, 1)
  assert.equal(office.root.status, 'todo')
  assert.equal(office.stub.comments.length, 1)
})

test('a strategy that the board returns is revised and resubmitted', async (t) => {
  const office = openOffice(t)
  await office.wake('Ada')
  Object.assign(office.stub.approvals[0], { status: 'revision_requested', decisionNote: 'cheaper' })
  await office.wake('Ada')
  assert.equal(office.stub.approvals[0].status, 'pending')
  assert.match(office.stub.approvals[0].payload.plan, /Revised: cheaper/)
})

test('the agents complete the whole outline, each issue once', async (t) => {
  const office = openOffice(t)
  await workUntilQuiet(office)
  assert.equal(office.stub.issues.length, ISSUE_COUNT)
  assert.deepEqual([...new Set(office.stub.issues.map((issue) => issue.status))], ['done'])
  assert.equal(new Set(office.stub.issues.map((issue) => issue.title)).size, ISSUE_COUNT)
  const children = office.stub.issues.filter((issue) => issue.id !== office.root.id)
  assert.ok(children.every((issue) => issue.parentId !== null))
  assert.ok(office.stub.comments.every((comment) => comment.body.endsWith('*demo agent*')))
})

test('work creates a file in the workspace', async (t) => {
  const office = openOffice(t)
  await workUntilQuiet(office)
  const workers = office.stub.agents.filter((agent) => ['engineer', 'researcher'].includes(agent.role))
  const theirs = office.stub.issues.filter((issue) => workers.some((agent) => agent.id === issue.assigneeAgentId))
  assert.deepEqual(
    readdirSync(office.workspace).toSorted(),
    theirs.map((issue) => `${issue.identifier.toLowerCase()}.md`).toSorted(),
  )
})

test('an engineer asks the researcher a question, waits, and continues after the response', async (t) => {
  const office = openOffice(t)
  const kit = office.stub.agents.find((agent) => agent.name === 'Kit')
  const issue = office.stub.add('issues', {
    title: 'Read the data',
    description: 'Question: Which datum?',
    assigneeAgentId: kit.id,
  })
  await office.wake('Kit')
  await office.wake('Kit')
  assert.equal(issue.status, 'blocked')
  const requested = office.stub.comments.filter((comment) => comment.body.startsWith('@Rhea Which datum?'))
  assert.equal(requested.length, 1)
  await office.wake('Rhea', { SERVICE_TASK_ID: issue.id })
  await office.wake('Rhea')
  assert.equal(office.stub.comments.filter((comment) => comment.body.startsWith('Kit, I looked it up')).length, 1)
  await office.wake('Kit')
  assert.equal(issue.status, 'in_review')
  await office.wake('Mara')
  assert.equal(issue.status, 'done')
})

test('an issue that another agent holds is skipped, and the next issue is done', async (t) => {
  const office = openOffice(t)
  const kit = office.stub.agents.find((agent) => agent.name === 'Kit')
  const lost = office.stub.add('issues', { title: 'Lost', assigneeAgentId: kit.id })
  const stored = office.stub.add('issues', { title: 'Kept', assigneeAgentId: kit.id })
  const printed = await office.wake('Kit', {}, (api) =>
    withRequest(api, (name, options) => {
      if (name.endsWith('/checkout') && options?.params?.issueId === lost.id) lost.assigneeAgentId = 'another'
      return api.request(name, options)
    }),
  )
  assert.equal(printed.filter((text) => text.includes(`Not ${lost.identifier}`)).length, 1)
  assert.equal(lost.status, 'todo')
  assert.equal(stored.status, 'in_review')
})

/** A short outline with every kind of step. */
const SMALL_OUTLINE = `- Look (researcher)
- Build (manager)
  - Read (engineer)
    Question: Which?
  - Draw (engineer)`

test('if an agent is killed after any request, its next heartbeat continues and repeats no work', async (t) => {
  let killed = true
  for (let killAt = 1; killed; killAt++) {
    killed = false
    const office = openOffice(t)
    Object.assign(office.root, { description: SMALL_OUTLINE })
    let requests = 0
    const dying = (api: Api): Api =>
      withRequest(api, async (name, options) => {
        const response = await api.request(name, options)
        if (++requests === killAt) {
          killed = true
          throw new Error('killed')
        }
        return response
      })
    await workUntilQuiet(office, dying)
    const issues = office.stub.issues.map((issue) => `${issue.title} ${issue.status}`).toSorted()
    const expected = ['Build', 'Draw', ROOT_ISSUE.title, 'Look', 'Read'].map((title) => `${title} done`)
    assert.deepEqual(issues, expected, `killed after request ${killAt}`)
    assert.equal(office.stub.approvals.length, 1, `killed after request ${killAt}`)
    const printed = office.stub.comments.map((comment) => `${comment.issueId} ${comment.body}`)
    assert.equal(new Set(printed).size, printed.length, `killed after request ${killAt}: ${printed.join('; ')}`)
  }
})
