import assert from 'node:assert/strict'
import { test } from 'node:test'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../../src/platform/context.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { type IssueRow, PRIORITIES } from '../../../src/work/issue/issue.ts'
import { ISSUE_STATUSES } from '../../../src/work/issue/lifecycle.ts'
import { type IssueFilter, listIssues } from '../../../src/work/issue/list.ts'
import { insertAgent, insertGoal, insertProject } from '../../arrange.ts'
import { plansOf } from '../../plans.ts'
import { setUp } from './set-up.ts'

const titles = (issues: { title: string }[]) => issues.map((issue) => issue.title)

test('issues are listed by priority, then newest first', async (t) => {
  const { create, request, issues } = await setUp(t)
  for (const [title, priority] of [
    ['old', 'medium'],
    ['low', 'low'],
    ['critical', 'critical'],
    ['new', 'medium'],
    ['high', 'high'],
  ]) {
    await create({ title, priority })
  }
  assert.deepEqual(titles((await request('GET', issues)).body), ['critical', 'high', 'new', 'old', 'low'])
})

test('an unknown status in a filter returns 400', async (t) => {
  const { request, issues } = await setUp(t)
  const { status, body } = await request('GET', `${issues}?status=todo,open`)
  assert.equal(status, 400)
  assert.equal(body.details.fields[0].path, 'status')
})

test('a filter by an unknown object returns no issues', async (t) => {
  const { create, request, issues } = await setUp(t)
  await create()
  for (const name of ['assigneeAgentId', 'assigneeUserId', 'projectId', 'goalId', 'parentId', 'labelId']) {
    assert.deepEqual((await request('GET', `${issues}?${name}=nothing`)).body, [], name)
  }
})

test('an agent can filter by `me`, and by the url key of an agent', async (t) => {
  const app = await setUp(t)
  const dora = insertAgent(app, { company_id: app.company.id, name: 'Dora', url_key: 'dora' })
  const issue = await app.create({ assigneeAgentId: dora.id })
  await app.create()
  const own = await dora.request('GET', `${app.issues}?assigneeAgentId=me`)
  assert.deepEqual(own.body, [issue])
  assert.deepEqual((await app.request('GET', `${app.issues}?assigneeAgentId=dora`)).body, [issue])
  const personal = await app.create({ assigneeUserId: 'local-board' })
  assert.deepEqual((await app.request('GET', `${app.issues}?assigneeUserId=me`)).body, [personal])
  const [unassigned, ...others] = (await app.request('GET', `${app.issues}?assigneeAgentId=none`)).body
  assert.deepEqual([unassigned.assigneeAgentId, unassigned.assigneeUserId, others], [null, null, []])
})

test('a filter never returns issues of another company', async (t) => {
  const app = await setUp(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const agent = insertAgent(app, { company_id: elsewhere.id })
  const made = await app.make('POST', `/api/companies/${elsewhere.id}/issues`, {
    title: 'X',
    assigneeAgentId: agent.id,
  })
  for (const query of [`assigneeAgentId=${agent.id}`, `parentId=${made.id}`, 'q=X', 'status=todo', '']) {
    assert.deepEqual((await app.request('GET', `${app.issues}?${query}`)).body, [], query)
  }
})

/** Inserts many issues with different values in all fields that a list can filter by. */
function insertMany(ctx: Context, companyId: string, count: number) {
  const of = { company_id: companyId }
  const pick = <T>(values: readonly T[], n: number): T => values[n % values.length]!
  const projects = [insertProject(ctx, of), insertProject(ctx, of), null]
  const goals = [insertGoal(ctx, of), null]
  const agents = ctx.db.all(sql.selectFrom('agent').select('id')).map((agent) => agent.id)
  const labelId = uuid()
  const times = { created_at: ctx.now, updated_at: ctx.now }
  ctx.db.run(sql.insertInto('label').values({ id: labelId, ...of, name: 'rare', color: '#000000', ...times }))
  const parents: string[] = []
  for (let n = 0; n < count; n++) {
    const id = uuid()
    const status = pick(ISSUE_STATUSES, Math.floor(n / 3))
    const agentId = status === 'in_progress' ? pick(agents, n) : pick([...agents, null], n)
    const row = {
      id,
      ...of,
      issue_number: 10_000 + n,
      identifier: `MANY-${n}`,
      title: `Issue ${n} ${pick(['apple', 'banana', 'cherry'], n)}`,
      status,
      priority: pick(PRIORITIES, Math.floor(n / 5)),
      assignee_agent_id: agentId,
      assignee_user_id: agentId === null ? pick(['u1', null], Math.floor(n / 11)) : null,
      project_id: pick(projects, Math.floor(n / 7)),
      goal_id: pick(goals, Math.floor(n / 2)),
      parent_id: n % 13 === 0 ? (parents[0] ?? null) : null,
      completed_at: status === 'done' ? ctx.now : null,
      cancelled_at: status === 'cancelled' ? ctx.now : null,
      ...times,
    }
    ctx.db.run(sql.insertInto('issue').values(row))
    if (n % 17 === 0) ctx.db.run(sql.insertInto('issue_label').values({ issue_id: id, label_id: labelId }))
    if (n % 5 === 0) ctx.db.run(sql.insertInto('issue_read').values({ user_id: 'u2', issue_id: id, activity_seq: -1 }))
    parents.push(id)
  }
  return {
    companyId,
    statuses: ['todo', 'blocked', 'in_progress'],
    assigneeAgentId: agents[0],
    assigneeUserId: 'u1',
    projectId: projects[0]!,
    goalId: goals[0]!,
    parentId: parents[0]!,
    labelId,
    unread: { userId: 'u2', is: true },
    isUnassigned: true,
    seqs: ctx.db.all(sql.selectFrom('issue').select('seq').where('title', 'like', '%banana%')).map(({ seq }) => seq),
  } as const
}

type Name = Exclude<keyof IssueFilter, 'companyId'>
const NAMES: Name[] = [
  'statuses',
  'assigneeAgentId',
  'assigneeUserId',
  'projectId',
  'goalId',
  'parentId',
  'labelId',
  'unread',
  'isUnassigned',
  'seqs',
]

/** Every filter, and every pair of filters. */
const combinations = [[], ...NAMES.flatMap((a, i) => [[a], ...NAMES.slice(i + 1).map((b) => [a, b])])]

test('every combination of filters returns the correct issues, in order, on every page', async (t) => {
  const { ctx, company } = await setUp(t)
  const values = await ctx.write(() => insertMany(ctx, company.id, 300))
  const rows = ctx.db.all(sql.selectFrom('issue').selectAll())
  const labelled = new Set(ctx.db.all(sql.selectFrom('issue_label').select('issue_id')).map((row) => row.issue_id))
  const unread = new Set(ctx.db.all(sql.selectFrom('issue_read').select('issue_id')).map((row) => row.issue_id))
  const passes: Record<Name, (row: IssueRow) => boolean> = {
    statuses: (row) => values.statuses.some((status) => status === row.status),
    assigneeAgentId: (row) => row.assignee_agent_id === values.assigneeAgentId,
    assigneeUserId: (row) => row.assignee_user_id === 'u1',
    projectId: (row) => row.project_id === values.projectId,
    goalId: (row) => row.goal_id === values.goalId,
    parentId: (row) => row.parent_id === values.parentId,
    labelId: (row) => labelled.has(row.id),
    isUnassigned: (row) => row.assignee_agent_id === null && row.assignee_user_id === null,
    unread: (row) => unread.has(row.id),
    seqs: (row) => row.title.includes('banana'),
  }
  for (const names of combinations) {
    const filter: IssueFilter = {
      companyId: company.id,
      ...Object.fromEntries(names.map((name) => [name, values[name]])),
    }
    const expected = rows
      .filter((row) => names.every((name) => passes[name](row)))
      .sort((a, b) => a.priority_rank - b.priority_rank || (a.id < b.id ? 1 : -1))
      .map((row) => row.id)
    const found: string[] = []
    for (let after: [number, string] | undefined; ; ) {
      const page = listIssues(ctx.db, filter, { after, limit: 20 })
      found.push(...page.slice(0, 20).map((row) => row.id))
      if (page.length <= 20) break
      after = [page[19]!.priority_rank, page[19]!.id]
    }
    assert.deepEqual(found, expected, names.join())
  }
})

test('no list query sorts or scans if an index has the order', async (t) => {
  const { ctx, company } = await setUp(t)
  const values = await ctx.write(() => insertMany(ctx, company.id, 10))
  for (const names of combinations) {
    const isSorted = names.includes('labelId') || names.includes('seqs')
    const filter: IssueFilter = {
      companyId: company.id,
      ...Object.fromEntries(names.map((name) => [name, values[name]])),
    }
    for (const after of [undefined, [2, uuid()] as [number, string]]) {
      const plan = plansOf(ctx, (db) => listIssues(db, filter, { after, limit: 20 }))
      const where = `${names.join()}: ${plan.join('; ')}`
      assert.ok(!plan.some((step) => /^SCAN issue( |$)/.test(step)), where)
      if (!isSorted) assert.ok(!plan.some((step) => step.includes('TEMP B-TREE')), where)
    }
  }
})

test('a page includes the cursor of the next page, and the total on request', async (t) => {
  const { ctx, company, request, issues } = await setUp(t)
  await ctx.write(() => insertMany(ctx, company.id, 30))
  const seen: string[] = []
  for (let url: string | undefined = `${issues}?limit=7&count=true&status=todo,done,backlog`; url; ) {
    const { body, headers } = await request('GET', url)
    seen.push(...body.map((issue: { id: string }) => issue.id))
    assert.equal(headers.get('x-total-count'), '15')
    url = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  assert.equal(seen.length, 15)
  assert.equal(new Set(seen).size, 15)
  assert.equal((await request('GET', `${issues}?after=nonsense`)).status, 400)
})
