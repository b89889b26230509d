import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findProjectsByIds } from '../../../src/work/project/queries.ts'
import { insertIssue } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const path = `/api/companies/${people.company.id}/projects`
  const project = (name: string, more: object = {}) => app.make('POST', path, { name, ...more })
  const goal = (title: string) => app.make('POST', `/api/companies/${people.company.id}/goals`, { title })
  return { ...app, ...people, app, path, project, goal }
}

test('creating a project stores its goals and its first workspace', async (t) => {
  const { app, project, goal, request, ceo, path } = await arrange(t)
  const [first, second] = [await goal('first'), await goal('second')]
  const made = await project('Website', {
    description: 'The new one',
    status: 'active',
    goalIds: [second.id, first.id],
    leadAgentId: ceo.id,
    targetDate: '2026-12-24T00:00:00.000Z',
    workspace: { cwd: '/srv/website', repoUrl: 'https://example.com/acme/website.git' },
  })
  assert.equal(made.urlKey, 'website')
  assert.equal(made.goalId, second.id)
  assert.deepEqual(made.goalIds, [second.id, first.id])
  assert.deepEqual(made.goals, [second, first])
  assert.equal(made.targetDate, '2026-12-24')
  assert.equal(made.primaryWorkspace.isPrimary, true)
  assert.equal(made.primaryWorkspace.name, 'website')
  assert.deepEqual(made.workspaces, [made.primaryWorkspace])
  assert.deepEqual((await request('GET', `/api/projects/${made.id}`)).body, made)
  assert.deepEqual((await request('GET', path)).body, [made])
  assert.deepEqual([...findProjectsByIds(app.ctx.db, [made.id, 'nope'])], [[made.id, made]])
})

test('an agent reads a project of its company by urlKey, and the board does with a company', async (t) => {
  const { project, request, engineer, stranger, company } = await arrange(t)
  await project('Größe & Co')
  const made = await project('Grosse  Co')
  const { urlKey } = await project('Größe – Co')
  assert.equal(urlKey, 'gro-e-co-2')
  assert.equal((await engineer.request('GET', '/api/projects/grosse-co')).body.id, made.id)
  assert.equal((await request('GET', `/api/projects/Grosse-Co?companyId=${company.id}`)).body.id, made.id)
  assert.equal((await request('GET', '/api/projects/grosse-co')).status, 404)
  assert.equal((await stranger.request('GET', '/api/projects/grosse-co')).status, 404)
  assert.equal((await stranger.request('GET', `/api/projects/grosse-co?companyId=${company.id}`)).status, 404)
})

test('the list of projects is paginated and can be filtered by status', async (t) => {
  const { project, request, path } = await arrange(t)
  for (const [name, status] of [
    ['a', 'active'],
    ['b', 'planned'],
    ['c', 'completed'],
    ['d', 'active'],
  ] as const)
    await project(name, { status })
  const names = (response: { body: { name: string }[] }) => response.body.map((one) => one.name).join('')
  assert.equal(names(await request('GET', `${path}?status=active`)), 'ad')
  assert.equal(names(await request('GET', `${path}?status=planned,completed`)), 'bc')
  assert.equal((await request('GET', `${path}?status=nope`)).status, 400)
  const first = await request('GET', `${path}?limit=3&count=true`)
  assert.equal(names(first), 'abc')
  assert.equal(first.headers.get('x-total-count'), '4')
  const next = /<(.+)>; rel="next"/.exec(first.headers.get('link')!)![1]!
  assert.equal(names(await request('GET', next)), 'd')
})

test('every field can be updated; renaming a project does not change its urlKey', async (t) => {
  const { project, goal, request, engineer } = await arrange(t)
  const made = await project('Website')
  const aim = await goal('aim')
  const change = {
    name: 'Shop',
    description: 'd',
    status: 'in_progress',
    goalIds: [aim.id],
    leadAgentId: engineer.id,
    targetDate: '2027-01-01',
    archivedAt: '2026-11-21T10:00:00.000Z',
  }
  const { body } = await request('PATCH', `/api/projects/${made.id}`, change)
  assert.deepEqual({ ...body, ...change, goalId: aim.id, urlKey: 'website' }, body)
  const cleared = { description: null, leadAgentId: null, targetDate: null, archivedAt: null, goalId: null }
  const after = (await request('PATCH', `/api/projects/${made.id}`, cleared)).body
  assert.deepEqual({ ...after, ...cleared, goalIds: [] }, after)
})

test('goalId alone replaces the first goal and keeps the others', async (t) => {
  const { project, goal, request } = await arrange(t)
  const [a, b, c] = [await goal('a'), await goal('b'), await goal('c')]
  const made = await project('x', { goalIds: [a.id, b.id] })
  assert.deepEqual((await request('PATCH', `/api/projects/${made.id}`, { goalId: c.id })).body.goalIds, [c.id, b.id])
  assert.deepEqual((await request('PATCH', `/api/projects/${made.id}`, { goalId: null })).body.goalIds, [b.id])
  const both = await request('PATCH', `/api/projects/${made.id}`, { goalId: null, goalIds: [a.id] })
  assert.equal(both.status, 422)
})

test('unknown references return 422 and name the field', async (t) => {
  const { app, request, path, other, stranger } = await arrange(t)
  const foreign = await app.make('POST', `/api/companies/${other.id}/goals`, { title: 'theirs' })
  for (const [field, value] of [
    ['goalId', foreign.id],
    ['goalIds', [foreign.id]],
    ['leadAgentId', stranger.id],
  ]) {
    const { status, body } = await request('POST', path, { name: 'x', [field]: value })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, field)
  }
  assert.deepEqual((await request('GET', path)).body, [])
})

test('an invalid date is refused', async (t) => {
  const { request, path } = await arrange(t)
  for (const targetDate of ['2026-02-30', 'tomorrow', '2026-13-01']) {
    assert.equal((await request('POST', path, { name: 'x', targetDate })).status, 400, targetDate)
  }
})

test('a project with issues cannot be deleted; deleting an empty project deletes its workspaces', async (t) => {
  const { app, project, request, company, engineer, ceo } = await arrange(t)
  const busy = await project('busy')
  insertIssue(app.ctx, { company_id: company.id, project_id: busy.id })
  const refused = await request('DELETE', `/api/projects/${busy.id}`)
  assert.equal(refused.status, 409)
  assert.equal(refused.body.details.issues, 1)
  const empty = await project('empty', { workspace: { cwd: '/srv' } })
  assert.equal((await engineer.request('DELETE', `/api/projects/${empty.id}`)).status, 403)
  assert.equal((await ceo.request('DELETE', `/api/projects/${empty.id}`)).body.id, empty.id)
  assert.equal((await request('GET', `/api/projects/${empty.id}`)).status, 404)
})

test('an agent without subordinates can create projects, but cannot set workspaces', async (t) => {
  const { engineer, ceo, path } = await arrange(t)
  const made = (await engineer.request('POST', path, { name: 'x' })).body
  assert.equal((await engineer.request('PATCH', `/api/projects/${made.id}`, { status: 'active' })).status, 200)
  const workspace = { cwd: '/srv' }
  assert.equal((await engineer.request('POST', path, { name: 'y', workspace })).status, 403)
  assert.equal((await engineer.request('POST', `/api/projects/${made.id}/workspaces`, workspace)).status, 403)
  assert.equal((await ceo.request('POST', `/api/projects/${made.id}/workspaces`, workspace)).status, 201)
})

test('changes of a project are recorded in the activity', async (t) => {
  const { project, request, company } = await arrange(t)
  const made = await project('x')
  await request('PATCH', `/api/projects/${made.id}`, { name: 'x', goalIds: [] })
  await request('PATCH', `/api/projects/${made.id}`, { name: 'y' })
  await request('DELETE', `/api/projects/${made.id}`)
  const entries = (await request('GET', `/api/companies/${company.id}/activity?entityType=project`)).body
  assert.deepEqual(
    entries.map((entry: { action: string }) => entry.action),
    ['project.deleted', 'project.updated', 'project.created'],
  )
})
