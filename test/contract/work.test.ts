import assert from 'node:assert/strict'
import { insertRun, wakeReasons } from '../arrange.ts'
import { contract } from './contract.ts'
import { good, statusOf, type World } from './world.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled']

contract('Issue', {
  'Issue.id is the identifier of the row': async ({ issue }) => assert.match((await issue()).id, UUID),
  'Issue.identifier is PREFIX-number and works in links': async ({ issue, company, request }) => {
    const { id, identifier } = await issue()
    assert.match(identifier, new RegExp(`^${company.issuePrefix}-\\d+$`))
    for (const ref of [identifier, identifier.toLowerCase()]) {
      assert.equal((await good(request('GET', `/api/issues/${ref}`))).id, id)
    }
  },
  'Issue.title': async ({ issue, make }) => {
    const { id } = await issue({ title: 'One' })
    assert.equal((await make('PATCH', `/api/issues/${id}`, { title: 'Two' })).title, 'Two')
  },
  'Issue.description': async ({ issue }) => {
    assert.equal((await issue({ description: '# Why\n\nBecause.' })).description, '# Why\n\nBecause.')
  },
  'Issue.status is one of the seven': async ({ issue, engineer, request, of }) => {
    for (const status of STATUSES) {
      assert.equal((await issue({ status, assigneeAgentId: engineer.id })).status, status)
    }
    assert.equal(await statusOf(request('POST', of('/issues'), { title: 'x', status: 'open' })), 400)
  },
  'Issue.priority is critical, high, medium and the like': async ({ issue, request, of }) => {
    for (const priority of ['critical', 'high', 'medium', 'low']) {
      assert.equal((await issue({ priority })).priority, priority)
    }
    assert.equal(await statusOf(request('POST', of('/issues'), { title: 'x', priority: 'urgent' })), 400)
  },
  'Issue.assigneeAgentId is an agent or null': async ({ issue, engineer, stranger, request, of }) => {
    assert.equal((await issue({ assigneeAgentId: engineer.id })).assigneeAgentId, engineer.id)
    assert.equal((await issue()).assigneeAgentId, null)
    const elsewhere = { title: 'x', assigneeAgentId: stranger.id }
    assert.equal(await statusOf(request('POST', of('/issues'), elsewhere)), 422)
  },
  'Issue.assigneeUserId is a person or null': async ({ issue }) => {
    assert.equal((await issue({ assigneeUserId: 'ann' })).assigneeUserId, 'ann')
    assert.equal((await issue()).assigneeUserId, null)
  },
  'Issue.parentId is the parent issue or null': async ({ issue }) => {
    const parent = await issue()
    assert.deepEqual([parent.parentId, (await issue({ parentId: parent.id })).parentId], [null, parent.id])
  },
  'Issue.projectId is a project or null': async ({ issue, thing }) => {
    const { id } = await thing('projects', { name: 'Atlas' })
    assert.deepEqual([(await issue()).projectId, (await issue({ projectId: id })).projectId], [null, id])
  },
  'Issue.goalId is a goal or null': async ({ issue, thing }) => {
    const { id } = await thing('goals', { title: 'Know the sea' })
    assert.deepEqual([(await issue()).goalId, (await issue({ goalId: id })).goalId], [null, id])
  },
  'Issue.started_at is set when the status becomes in_progress': async ({ issue, engineer, make, clock, ctx }) => {
    const { id, started_at } = await issue({ assigneeAgentId: engineer.id })
    clock.move(60_000)
    const started = await make('PATCH', `/api/issues/${id}`, { status: 'in_progress' })
    assert.deepEqual([started_at, started.started_at, started.startedAt], [null, ctx.now, ctx.now])
  },
  'Issue.completed_at is set when the status becomes done': async ({ issue, engineer, make, clock, ctx }) => {
    const { id, completed_at } = await issue({ assigneeAgentId: engineer.id, status: 'in_progress' })
    clock.move(60_000)
    const done = await make('PATCH', `/api/issues/${id}`, { status: 'done' })
    assert.deepEqual([completed_at, done.completed_at, done.completedAt], [null, ctx.now, ctx.now])
  },
  'One issue.project has primaryWorkspace and workspaces, or is null': async ({ issue, thing, request }) => {
    const project = await thing('projects', { name: 'Atlas', workspace: { cwd: '/srv/atlas' } })
    const { id } = await issue({ projectId: project.id })
    const displayed = (await good(request('GET', `/api/issues/${id}`))).project
    assert.deepEqual(
      [displayed.id, displayed.primaryWorkspace.cwd, displayed.workspaces.length],
      [project.id, '/srv/atlas', 1],
    )
    assert.equal((await good(request('GET', `/api/issues/${(await issue()).id}`))).project, null)
  },
  'One issue.goal has its description, or is null': async ({ issue, thing, request }) => {
    const goal = await thing('goals', { title: 'Know the sea', description: 'All of it.' })
    const { id } = await issue({ goalId: goal.id })
    assert.equal((await good(request('GET', `/api/issues/${id}`))).goal.description, 'All of it.')
    assert.equal((await good(request('GET', `/api/issues/${(await issue()).id}`))).goal, null)
  },
  'One issue.ancestors are nearest first, each with its own project and goal': async ({ issue, thing, request }) => {
    const goal = await thing('goals', { title: 'Know the sea' })
    const project = await thing('projects', { name: 'Atlas' })
    const top = await issue({ title: 'Top', goalId: goal.id, projectId: project.id, priority: 'high' })
    const middle = await issue({ title: 'Middle', parentId: top.id, description: 'Between.' })
    const { id } = await issue({ parentId: middle.id })
    const { ancestors } = await good(request('GET', `/api/issues/${id}`))
    assert.deepEqual(
      ancestors.map((above: { title: string }) => above.title),
      ['Middle', 'Top'],
    )
    assert.equal(ancestors[0].description, 'Between.')
    const { id: topId, status, priority, assigneeAgentId, projectId, goalId } = ancestors[1]
    assert.deepEqual(
      [topId, status, priority, assigneeAgentId, projectId, goalId],
      [top.id, 'todo', 'high', null, project.id, goal.id],
    )
    assert.deepEqual([ancestors[1].project.id, ancestors[1].goal.id], [project.id, goal.id])
  },
})

/** Changes the status of an issue of Ada as the board, and returns it. */
const move = async ({ issue, make, engineer }: World, from: string, to: string) => {
  const { id } = await issue({ status: from, assigneeAgentId: engineer.id })
  const moved = await make('PATCH', `/api/issues/${id}`, { status: to })
  assert.equal(moved.status, to)
  return moved
}

contract('Issue transitions', {
  'Transition: backlog to todo by a status update': (world) => move(world, 'backlog', 'todo'),
  'Transition: todo to in_progress by a status update or a checkout, which sets the assignee and started_at': async (
    world,
  ) => {
    assert.equal((await move(world, 'todo', 'in_progress')).started_at, world.ctx.now)
    const { id } = await world.issue()
    const body = { agentId: world.engineer.id, expectedStatuses: ['todo'] }
    const taken = await good(world.engineer.request('POST', `/api/issues/${id}/checkout`, body))
    assert.deepEqual(
      [taken.status, taken.assigneeAgentId, taken.started_at],
      ['in_progress', world.engineer.id, world.ctx.now],
    )
  },
  'Transition: in_progress to in_review by a status update': (world) => move(world, 'in_progress', 'in_review'),
  'Transition: in_progress to blocked by a status update': (world) => move(world, 'in_progress', 'blocked'),
  'Transition: in_progress to done by a status update, which sets completed_at': async (world) => {
    assert.equal((await move(world, 'in_progress', 'done')).completed_at, world.ctx.now)
  },
  'Transition: in_review to done by a status update, which sets completed_at': async (world) => {
    assert.equal((await move(world, 'in_review', 'done')).completed_at, world.ctx.now)
  },
  'Transition: in_review to in_progress by a status update': (world) => move(world, 'in_review', 'in_progress'),
  'Transition: blocked to todo by a status update': (world) => move(world, 'blocked', 'todo'),
  'Transition: blocked to in_progress by a status update': (world) => move(world, 'blocked', 'in_progress'),
  'Rule: in_progress requires an assignee': async ({ issue, request, of }) => {
    const { id } = await issue()
    assert.equal(await statusOf(request('PATCH', `/api/issues/${id}`, { status: 'in_progress' })), 422)
    assert.equal(await statusOf(request('POST', of('/issues'), { title: 'x', status: 'in_progress' })), 422)
  },
  'Rule: a transition that is not in the table is 422': async (world) => {
    const table = [
      'backlog-todo',
      'todo-in_progress',
      'in_progress-in_review',
      'in_progress-blocked',
      'in_progress-done',
    ]
    table.push('in_review-done', 'in_review-in_progress', 'blocked-todo', 'blocked-in_progress')
    for (const from of STATUSES) {
      for (const to of STATUSES.filter((status) => status !== from)) {
        const { id } = await world.issue({ status: from, assigneeAgentId: world.engineer.id })
        const status = await statusOf(world.request('PATCH', `/api/issues/${id}`, { status: to }))
        // The only transition besides the table: every open issue can be cancelled.
        const isAllowed = table.includes(`${from}-${to}`) || (to === 'cancelled' && from !== 'done')
        assert.equal(status, isAllowed ? 200 : 422, `${from} to ${to}`)
      }
    }
  },
  'Rule: an issue has one assignee at any time': async ({ issue, engineer, colleague }) => {
    const { id } = await issue()
    const takes = [engineer, colleague].map(({ id: agentId, request }) =>
      statusOf(request('POST', `/api/issues/${id}/checkout`, { agentId })),
    )
    assert.deepEqual((await Promise.all(takes)).toSorted(), [200, 409])
  },
  'Rule: a CEO moves no issue to in_progress before its first strategy is approved': async (world) => {
    const { ceo, thing, issue, make } = world
    const { id } = await issue({ assigneeAgentId: ceo.id })
    const take = () => ceo.request('POST', `/api/issues/${id}/checkout`, { agentId: ceo.id })
    assert.equal((await take()).body.code, 'strategy_not_approved')
    assert.equal(await statusOf(ceo.request('PATCH', `/api/issues/${id}`, { status: 'in_progress' })), 422)
    const body = { type: 'approve_ceo_strategy', requestedByAgentId: ceo.id, payload: { plan: 'Grow' } }
    await make('POST', `/api/approvals/${(await thing('approvals', body)).id}/approve`)
    assert.equal((await take()).status, 200)
  },
  'Rule: an agent outside the line that assigned an issue cannot cancel it, and reassigns it to its manager': async (
    world,
  ) => {
    const { colleague, engineer, manager, of } = world
    const { id } = await good(colleague.request('POST', of('/issues'), { title: 'Mine', assigneeAgentId: engineer.id }))
    const refused = await engineer.request('PATCH', `/api/issues/${id}`, { status: 'cancelled' })
    assert.deepEqual([refused.status, refused.body.details.managerAgentId], [403, manager.id])
    const handed = { assigneeAgentId: manager.id, comment: 'Not ours, I think.' }
    assert.equal((await good(engineer.request('PATCH', `/api/issues/${id}`, handed))).assigneeAgentId, manager.id)
    const own = await good(manager.request('POST', of('/issues'), { title: 'Line', assigneeAgentId: engineer.id }))
    assert.equal(await statusOf(engineer.request('PATCH', `/api/issues/${own.id}`, { status: 'cancelled' })), 200)
  },
})

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

contract('Issue endpoints', {
  'GET /api/companies/:companyId/issues': async ({ issue, engineer, thing, request, of, make }) => {
    const project = await thing('projects', { name: 'Atlas' })
    const label = await thing('labels', { name: 'sea' })
    const low = await issue({ priority: 'low', projectId: project.id, description: 'A rare narwhal.' })
    const blocked = await issue({ status: 'blocked', assigneeAgentId: engineer.id, labelIds: [label.id] })
    const urgent = await issue({ priority: 'critical', assigneeUserId: 'ann' })
    await make('POST', `/api/issues/${urgent.id}/comments`, { body: 'Seen near Orkney.' })
    const list = async (query: string) => ids(await good(request('GET', of(`/issues${query}`))))
    assert.deepEqual(await list(''), [urgent.id, blocked.id, low.id])
    assert.deepEqual(await list('?status=blocked'), [blocked.id])
    assert.deepEqual(await list('?status=blocked,todo'), [urgent.id, blocked.id, low.id])
    assert.deepEqual(await list(`?assigneeAgentId=${engineer.id}`), [blocked.id])
    assert.deepEqual(await list('?assigneeUserId=ann'), [urgent.id])
    assert.deepEqual(await list(`?projectId=${project.id}`), [low.id])
    assert.deepEqual(await list(`?labelId=${label.id}`), [blocked.id])
    for (const [q, id] of [
      ['narwhal', low.id],
      ['orkney', urgent.id],
      [blocked.identifier, blocked.id],
    ]) {
      assert.deepEqual(await list(`?q=${q}`), [id], q)
    }
  },
  'GET /api/issues/:issueId': async ({ issue, engineer, stranger }) => {
    const { id } = await issue()
    const displayed = await good(engineer.request('GET', `/api/issues/${id}`))
    assert.deepEqual([displayed.project, displayed.goal, displayed.ancestors], [null, null, []])
    assert.equal(await statusOf(stranger.request('GET', `/api/issues/${id}`)), 404)
  },
  'POST /api/companies/:companyId/issues': async ({ issue, engineer, thing, of, ctx }) => {
    const parent = await issue()
    const goal = await thing('goals', { title: 'Know the sea' })
    const project = await thing('projects', { name: 'Atlas' })
    const body = {
      title: 'Count',
      description: 'All.',
      assigneeAgentId: engineer.id,
      parentId: parent.id,
      status: 'todo',
      priority: 'high',
      goalId: goal.id,
      projectId: project.id,
    }
    const { status, body: made } = await engineer.request('POST', of('/issues'), body)
    assert.equal(status, 201)
    for (const [key, value] of Object.entries(body)) assert.equal(made[key], value, key)
    assert.equal(made.createdByAgentId, engineer.id)
    assert.deepEqual(wakeReasons(ctx, engineer), [], 'an agent does not wake itself')
  },
  'PATCH /api/issues/:issueId': async ({ issue, engineer, request }) => {
    const { id } = await issue({ assigneeAgentId: engineer.id, status: 'in_progress' })
    const change = { status: 'done', comment: 'Counted: 7.' }
    const { status, comment } = await good(engineer.request('PATCH', `/api/issues/${id}`, change))
    assert.deepEqual([status, comment.body, comment.authorAgentId], ['done', 'Counted: 7.', engineer.id])
    const [only] = await good(request('GET', `/api/issues/${id}/comments`))
    assert.equal(only.body, 'Counted: 7.')
  },
  'POST /api/issues/:issueId/checkout': async ({ issue, engineer, colleague }) => {
    const { id } = await issue()
    const take = (by: typeof engineer, expectedStatuses = ['todo']) =>
      by.request('POST', `/api/issues/${id}/checkout`, { agentId: by.id, expectedStatuses })
    assert.equal(await statusOf(take(engineer, ['blocked'])), 409)
    const first = await good(take(engineer))
    assert.deepEqual(await good(take(engineer)), first, 'it is idempotent for the owner')
    assert.equal(await statusOf(take(colleague)), 409)
  },
  'POST /api/issues/:issueId/release': async ({ issue, engineer, colleague }) => {
    const { id } = await issue()
    await good(engineer.request('POST', `/api/issues/${id}/checkout`, { agentId: engineer.id }))
    assert.equal(await statusOf(colleague.request('POST', `/api/issues/${id}/release`)), 403)
    const { status, assigneeAgentId } = await good(engineer.request('POST', `/api/issues/${id}/release`))
    assert.deepEqual([status, assigneeAgentId], ['todo', null])
  },
  'GET /api/issues/:issueId/comments': async ({ issue, make, engineer }) => {
    const { id } = await issue()
    for (const body of ['One.', 'Two.']) await make('POST', `/api/issues/${id}/comments`, { body })
    const comments = await good(engineer.request('GET', `/api/issues/${id}/comments`))
    assert.deepEqual(
      comments.map((comment: { body: string }) => comment.body),
      ['One.', 'Two.'],
    )
  },
  'GET /api/issues/:issueId/comments/:commentId': async ({ issue, make, request }) => {
    const { id } = await issue()
    const comment = await make('POST', `/api/issues/${id}/comments`, { body: 'One.' })
    assert.deepEqual(await good(request('GET', `/api/issues/${id}/comments/${comment.id}`)), comment)
    const elsewhere = (await issue()).id
    assert.equal(await statusOf(request('GET', `/api/issues/${elsewhere}/comments/${comment.id}`)), 404)
  },
  'POST /api/issues/:issueId/comments': async ({ issue, engineer }) => {
    const { id } = await issue()
    const { status, body } = await engineer.request('POST', `/api/issues/${id}/comments`, { body: '**Seven.**' })
    assert.deepEqual([status, body.body, body.authorAgentId], [201, '**Seven.**', engineer.id])
  },
  'GET /api/issues/:issueId/approvals': async (world) => {
    const { issueId, approval, request } = await linked(world)
    assert.deepEqual(ids(await good(request('GET', `/api/issues/${issueId}/approvals`))), [approval.id])
  },
  'POST /api/issues/:issueId/approvals': async (world) => {
    const { approval, request } = await linked(world)
    const { id } = await world.issue()
    const body = { approvalId: approval.id }
    assert.equal(await statusOf(world.engineer.request('POST', `/api/issues/${id}/approvals`, body)), 201)
    assert.equal((await good(request('GET', `/api/approvals/${approval.id}/issues`))).length, 2)
  },
  'DELETE /api/issues/:issueId/approvals/:approvalId': async (world) => {
    const { issueId, approval, request } = await linked(world)
    await good(request('DELETE', `/api/issues/${issueId}/approvals/${approval.id}`))
    assert.deepEqual(await good(request('GET', `/api/issues/${issueId}/approvals`)), [])
    assert.equal(await statusOf(request('DELETE', `/api/issues/${issueId}/approvals/${approval.id}`)), 404)
  },
  'Mention: @Name in a comment, or in the comment of a PATCH, wakes that agent; it may check the issue out': async (
    world,
  ) => {
    const { issue, make, ctx, engineer, colleague } = world
    const { id } = await issue()
    await make('POST', `/api/issues/${id}/comments`, { body: '@ada please take this; not @ad or @adam.' })
    await make('PATCH', `/api/issues/${id}`, { comment: '@BOB see above.' })
    for (const agent of [engineer, colleague]) {
      assert.deepEqual(
        wakeReasons(ctx, agent).map(({ source, issueId }) => [source, issueId]),
        [['mention', id]],
        agent.name,
      )
    }
    assert.equal(await statusOf(engineer.request('POST', `/api/issues/${id}/checkout`, { agentId: engineer.id })), 200)
  },
})

async function linked({ issue, thing, request }: World) {
  const { id: issueId } = await issue()
  const approval = await thing('approvals', {
    type: 'approve_ceo_strategy',
    payload: { plan: 'Grow' },
    issueIds: [issueId],
  })
  return { issueId, approval, request }
}

contract('Comment', {
  'Comment.id is the identifier': async ({ issue, make }) => {
    const { id } = await make('POST', `/api/issues/${(await issue()).id}/comments`, { body: 'One.' })
    assert.match(id, UUID)
  },
  'Comment.body is markdown': async ({ issue, make }) => {
    const body = '# Found\n\n- one\n- `two`\n'
    assert.equal((await make('POST', `/api/issues/${(await issue()).id}/comments`, { body })).body, body)
  },
  'Comment.authorAgentId is there for agents': async (world) => {
    const { issue, engineer, make } = world
    const path = `/api/issues/${(await issue()).id}/comments`
    const run = await insertRun(world, engineer)
    assert.equal((await good(run.request('POST', path, { body: 'One.' }))).authorAgentId, engineer.id)
    assert.equal((await make('POST', path, { body: 'Two.' })).authorAgentId, null)
  },
  'Comments of approvals have a list of their own and the same basic shape': async (world) => {
    const { approval, issueId, request } = await linked(world)
    const path = `/api/approvals/${approval.id}/comments`
    const { id, body, authorAgentId } = await good(world.ceo.request('POST', path, { body: 'Please.' }))
    assert.deepEqual([body, authorAgentId], ['Please.', world.ceo.id])
    assert.deepEqual(ids(await good(request('GET', path))), [id])
    assert.deepEqual(await good(request('GET', `/api/issues/${issueId}/comments`)), [])
  },
})
