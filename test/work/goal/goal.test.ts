import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertIssue } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const path = `/api/companies/${people.company.id}/goals`
  const goal = (title: string, more: object = {}) => app.make('POST', path, { title, ...more })
  return { ...app, ...people, app, path, goal }
}

test('a goal without a parent has the level company, and each child is one level lower', async (t) => {
  const { goal } = await arrange(t)
  const levels = []
  let parentId: string | null = null
  for (const title of ['a', 'b', 'c', 'd', 'e']) {
    const made = await goal(title, { parentId })
    levels.push(made.level)
    parentId = made.id
  }
  assert.deepEqual(levels, ['company', 'team', 'agent', 'task', 'task'])
})

test('the list contains the whole hierarchy, with each goal after its parent', async (t) => {
  const { goal, request, path } = await arrange(t)
  const late = await goal('late')
  const first = await goal('first')
  const below = await goal('below', { parentId: first.id })
  const moved = await goal('moved')
  await request('PATCH', `/api/goals/${late.id}`, { parentId: moved.id })
  const list = (await request('GET', path)).body
  assert.deepEqual(
    list.map((one: { title: string }) => one.title),
    ['first', 'below', 'moved', 'late'],
  )
  assert.equal(list[1].parentId, first.id)
  assert.deepEqual((await request('GET', `/api/goals/${below.id}`)).body, below)
})

test('a goal requires a title, and unknown fields are refused', async (t) => {
  const { request, path } = await arrange(t)
  assert.equal((await request('POST', path, {})).status, 400)
  assert.equal((await request('POST', path, { title: ' ' })).status, 400)
  assert.equal((await request('POST', path, { title: 'x', levle: 'team' })).status, 400)
  assert.equal((await request('POST', path, { title: 'x', level: 'galaxy' })).status, 400)
})

test('a level above the level of the parent is refused, at creation and at an update', async (t) => {
  const { request, goal, path } = await arrange(t)
  const team = await goal('team', { level: 'team' })
  const response = await request('POST', path, { title: 'x', level: 'company', parentId: team.id })
  assert.equal(response.status, 422)
  assert.equal(response.body.details.fields[0].path, 'level')
  const beside = await goal('beside', { level: 'team', parentId: team.id })
  assert.equal((await request('PATCH', `/api/goals/${beside.id}`, { level: 'company' })).status, 422)
  assert.equal((await request('PATCH', `/api/goals/${team.id}`, { level: 'task' })).status, 422, 'a child is above it')
  assert.equal((await request('PATCH', `/api/goals/${beside.id}`, { level: 'task' })).status, 200)
  assert.equal((await request('PATCH', `/api/goals/${team.id}`, { level: 'task' })).status, 200)
})

test('a goal cannot be its own descendant', async (t) => {
  const { request, goal } = await arrange(t)
  const a = await goal('a', { level: 'task' })
  const b = await goal('b', { parentId: a.id })
  const c = await goal('c', { parentId: b.id })
  for (const parentId of [a.id, b.id, c.id]) {
    const { status, body } = await request('PATCH', `/api/goals/${a.id}`, { parentId })
    assert.equal(status, 422)
    assert.match(body.error, /parentId/)
  }
})

test('an unknown parent or owner returns 422 and names the field', async (t) => {
  const { app, request, path, other, stranger } = await arrange(t)
  const foreign = await app.make('POST', `/api/companies/${other.id}/goals`, { title: 'theirs' })
  for (const [field, ref] of [
    ['parentId', foreign.id],
    ['parentId', 'nope'],
    ['ownerAgentId', stranger.id],
  ]) {
    const { status, body } = await request('POST', path, { title: 'x', [field!]: ref })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, field)
  }
})

test('agents of the company can read, create and update goals; only the board and the CEO can delete them', async (t) => {
  const { engineer, ceo, path, request } = await arrange(t)
  const made = (await engineer.request('POST', path, { title: 'mine', ownerAgentId: engineer.id })).body
  assert.equal(made.ownerAgentId, engineer.id)
  assert.equal((await engineer.request('PATCH', `/api/goals/${made.id}`, { status: 'active' })).body.status, 'active')
  assert.equal((await engineer.request('DELETE', `/api/goals/${made.id}`)).status, 403)
  assert.equal((await ceo.request('DELETE', `/api/goals/${made.id}`)).status, 200)
  assert.equal((await request('GET', `/api/goals/${made.id}`)).status, 404)
})

test('an agent of another company can read neither the list nor the goal', async (t) => {
  const { stranger, path, goal } = await arrange(t)
  const made = await goal('secret')
  assert.equal((await stranger.request('GET', path)).status, 403)
  assert.equal((await stranger.request('GET', `/api/goals/${made.id}`)).status, 404)
  assert.equal((await stranger.request('PATCH', `/api/goals/${made.id}`, { title: 'x' })).status, 404)
})

test('a goal with references is not deleted, and the response names the references', async (t) => {
  const { app, request, goal, company } = await arrange(t)
  const top = await goal('top')
  const below = await goal('below', { parentId: top.id })
  insertIssue(app.ctx, { company_id: company.id, goal_id: below.id })
  const first = await request('DELETE', `/api/goals/${top.id}`)
  assert.equal(first.status, 409)
  assert.equal(first.body.details.goals, 1)
  assert.match((await request('DELETE', `/api/goals/${below.id}`)).body.error, /1 issues/)
})

test('an update is recorded in the activity, and a no-op update is not', async (t) => {
  const { request, goal, company } = await arrange(t)
  const made = await goal('x')
  await request('PATCH', `/api/goals/${made.id}`, { title: 'x', description: null })
  await request('PATCH', `/api/goals/${made.id}`, { title: 'y' })
  const entries = (await request('GET', `/api/companies/${company.id}/activity?entityType=goal`)).body
  assert.deepEqual(
    entries.map((entry: { action: string; details: unknown }) => [entry.action, entry.details]),
    [
      ['goal.updated', { title: 'y', changed: ['title'] }],
      ['goal.created', { title: 'x' }],
    ],
  )
})
