import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { forgetWakes, wakeReasons } from '../../arrange.ts'
import { setUp as setUpIssues } from '../issue/set-up.ts'

async function setUp(t: TestContext) {
  const app = await setUpIssues(t)
  const issue = await app.create({ assigneeAgentId: app.bob.id })
  const path = `/api/issues/${issue.id}/interactions`
  forgetWakes(app.ctx)
  /** Creates an interaction as the agent Ada. */
  const ask = async (body: object) => {
    const answer = await app.ada.request('POST', path, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const answer = (to: { id: string }, body: object) => app.request('POST', `${path}/${to.id}/answer`, body)
  const comments = async () => (await app.request('GET', `/api/issues/${issue.id}/comments`)).body
  return { ...app, board: app.request, issue, path, ask, answer, comments }
}

test('the response to a question is stored as a comment, is shown on the question, and wakes the requester and the assignee', async (t) => {
  const { ask, answer, comments, board, path, ctx, ada, bob, activity } = await setUp(t)
  const asked = await ask({ kind: 'question', title: 'Which colour, @Cleo?', question: 'For the *logo*.' })
  assert.deepEqual(
    [asked.status, asked.createdByAgentId, asked.answer, asked.options, asked.tasks],
    ['pending', ada.id, null, [], []],
  )
  const { status, body } = await answer(asked, { text: 'Blue.', note: 'A dark one.' })
  assert.equal(status, 200)
  const [comment] = await comments()
  assert.equal(comment.body, '**Which colour, \\@Cleo?**\n\nBlue.\n\nA dark one.')
  assert.equal(comment.authorType, 'user')
  assert.deepEqual(body.answer, {
    text: 'Blue.',
    confirmed: null,
    selected: [],
    note: 'A dark one.',
    commentId: comment.id,
    createdIssueIds: [],
  })
  assert.deepEqual([body.status, body.answeredByUserId, body.answeredAt], ['answered', 'local-board', ctx.now])
  for (const agent of [ada, bob]) {
    assert.deepEqual(
      wakeReasons(ctx, agent).map(({ source, commentId }) => [source, commentId]),
      [['issue_commented', comment.id]],
    )
  }
  assert.deepEqual((await board('GET', `${path}/${asked.id}`)).body, body)
  assert.deepEqual((await activity()).map(({ action }: { action: string }) => action).slice(0, 3), [
    'issue.interaction_answered',
    'issue.commented',
    'issue.interaction_created',
  ])
  const again = await answer(asked, { text: 'Red.' })
  assert.deepEqual([again.status, again.body.code], [409, 'conflict'])
})

test('a confirmation accepts yes or no', async (t) => {
  const { ask, answer, comments } = await setUp(t)
  await answer(await ask({ kind: 'confirm', title: 'Ship?' }), { confirmed: false })
  await answer(await ask({ kind: 'confirm', title: 'Really?' }), { confirmed: true })
  assert.deepEqual(
    (await comments()).map((one: { body: string }) => one.body),
    ['**Ship?**\n\nNo.', '**Really?**\n\nYes.'],
  )
})

test('a choice accepts one option, or several if the question allows it', async (t) => {
  const { ask, answer, comments } = await setUp(t)
  const options = ['SQLite', { label: 'PostgreSQL', description: 'Needs a server.' }]
  const one = await ask({ kind: 'choose', title: 'Database?', options, recommended: 'SQLite' })
  assert.deepEqual(one.options, [
    { id: '1', label: 'SQLite', description: null },
    { id: '2', label: 'PostgreSQL', description: 'Needs a server.' },
  ])
  assert.equal(one.recommended, '1')
  for (const selected of [[], ['1', '2'], ['3']]) assert.equal((await answer(one, { selected })).status, 422)
  assert.deepEqual((await answer(one, { selected: ['2'] })).body.answer.selected, ['2'])
  const several = await ask({ kind: 'choose', title: 'Which?', options, multiple: true })
  assert.equal((await answer(several, { selected: ['1', '2'] })).status, 200)
  assert.deepEqual(
    (await comments()).map((comment: { body: string }) => comment.body),
    ['**Database?**\n\nPostgreSQL.', '**Which?**\n\nSQLite, PostgreSQL.'],
  )
})

test('accepted tasks become sub-issues, and the other tasks do not', async (t) => {
  const { ask, answer, issue, board, ctx, bob, comments } = await setUp(t)
  const tasks = [{ title: 'One', assigneeAgentId: 'no-such' }, { title: 'Two' }]
  const refused = await ask({ kind: 'suggest_tasks', title: 'Split?', tasks: [{ title: 'One' }, tasks[1]] })
  assert.deepEqual((await answer(refused, { selected: [] })).body.answer.createdIssueIds, [])
  const asked = await ask({
    kind: 'suggest_tasks',
    title: 'Split?',
    tasks: [{ title: 'One', assigneeAgentId: bob.id, priority: 'high', description: 'First.' }, { title: 'Two' }],
  })
  forgetWakes(ctx)
  const { answer: given } = (await answer(asked, { selected: ['1'] })).body
  const [created] = (await board('GET', `/api/companies/${issue.companyId}/issues?parentId=${issue.id}`)).body
  assert.deepEqual(given.createdIssueIds, [created.id])
  assert.deepEqual(
    [created.title, created.description, created.priority, created.assigneeAgentId, created.createdByUserId],
    ['One', 'First.', 'high', bob.id, 'local-board'],
  )
  assert.ok(wakeReasons(ctx, bob).some(({ source, issueId }) => source === 'issue_assigned' && issueId === created.id))
  assert.equal((await comments()).at(-1).body, `**Split?**\n\nAccepted: ${created.identifier}.`)
})

test('a response that does not match the kind of the question is refused, and the error names the field', async (t) => {
  const { ada, path, ask, answer } = await setUp(t)
  const options = ['A', 'B']
  const rows: [object, number, string][] = [
    [{ kind: 'choose', title: 'x' }, 400, 'options'],
    [{ kind: 'choose', title: 'x', options: ['A'] }, 400, 'options'],
    [{ kind: 'choose', title: 'x', options, recommended: 'C' }, 422, 'recommended'],
    [{ kind: 'suggest_tasks', title: 'x' }, 400, 'tasks'],
    [
      { kind: 'suggest_tasks', title: 'x', tasks: [{ title: 'y', assigneeAgentId: 'z' }] },
      422,
      'tasks.0.assigneeAgentId',
    ],
    [{ kind: 'question', title: 'x', options }, 422, 'options'],
    [{ kind: 'question' }, 400, 'title'],
    [{ kind: 'poll', title: 'x' }, 400, 'kind'],
  ]
  for (const [body, status, field] of rows) {
    const answer = await ada.request('POST', path, body)
    assert.deepEqual([answer.status, answer.body.details.fields[0].path], [status, field], JSON.stringify(body))
  }
  const question = await ask({ kind: 'question', title: 'x' })
  assert.equal((await answer(question, {})).status, 400)
  assert.equal((await answer(question, { text: 'y', confirmed: true })).status, 422)
})

test('agents cannot respond to interactions; the requester and the board can cancel them', async (t) => {
  const { ask, path, ada, bob, board, make } = await setUp(t)
  const asked = await ask({ kind: 'confirm', title: 'Ship?' })
  assert.equal((await ada.request('POST', `${path}/${asked.id}/answer`, { confirmed: true })).status, 403)
  assert.equal((await bob.request('POST', `${path}/${asked.id}/cancel`)).status, 403)
  assert.equal((await ada.request('POST', `${path}/${asked.id}/cancel`)).body.status, 'cancelled')
  assert.equal((await make('POST', `${path}/${asked.id}/cancel`)).status, 'cancelled', 'again is the same')
  assert.equal((await board('POST', `${path}/${asked.id}/answer`, { confirmed: true })).status, 409)
})

test('a pending interaction is in the inbox while its issue is open, and in the lists', async (t) => {
  const { ask, answer, board, path, issue, make } = await setUp(t)
  const first = await ask({ kind: 'question', title: 'Who?', question: 'Tell.' })
  await answer(await ask({ kind: 'confirm', title: 'Sure?' }), { confirmed: true })
  const items = async () => (await board('GET', '/api/inbox?kind=question')).body
  const [item, ...others] = await items()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [item.title, item.body, item.interactionId, item.issueIdentifier],
    ['Who?', 'Tell.', first.id, issue.identifier],
  )
  assert.deepEqual((await board('GET', `${path}?status=pending`)).body, [first])
  const all = (await board('GET', `/api/companies/${issue.companyId}/interactions`)).body
  assert.deepEqual(
    all.map(({ title }: { title: string }) => title),
    ['Sure?', 'Who?'],
  )
  await make('POST', `/api/issues/${issue.id}/close`)
  assert.deepEqual(await items(), [])
})

test('a question in the form of similar APIs becomes an interaction, and its answers find the options by their ids', async (t) => {
  const { ask, board, path, issue, make } = await setUp(t)
  const given = (kind: string, payload: object) => ask({ kind, continuationPolicy: 'wake_assignee', payload })
  const options = [
    { id: 'lat', label: 'LAT' },
    { id: 'msl', label: 'MSL' },
  ]
  const one = await given('ask_user_questions', { questions: [{ id: 'q', prompt: 'Which datum?', options }] })
  assert.deepEqual([one.kind, one.title, one.multiple], ['choose', 'Which datum?', false])
  const answers = [{ questionId: 'q', optionIds: ['msl'] }]
  assert.deepEqual((await make('POST', `${path}/${one.id}/respond`, { answers })).answer.selected, ['msl'])

  const two = await given('ask_user_questions', { questions: [{ prompt: 'Which?', options }, { prompt: 'Why?' }] })
  assert.deepEqual([two.kind, two.question], ['question', 'Which?\n- LAT\n- MSL\n\nWhy?'])
  const text = {
    answers: [
      { questionId: 'a', optionIds: ['lat'] },
      { questionId: 'b', otherText: 'It is lower.' },
    ],
  }
  assert.equal((await make('POST', `${path}/${two.id}/respond`, text)).answer.text, 'lat\nIt is lower.')

  const tasks = [
    { clientKey: 'a', title: 'First' },
    { clientKey: 'b', title: 'Second' },
  ]
  const split = await ask({ kind: 'suggest_tasks', title: 'Split it', payload: { tasks } })
  await make('POST', `${path}/${split.id}/accept`, { selectedClientKeys: ['b'] })
  const children = (await board('GET', `/api/companies/${issue.companyId}/issues?parentId=${issue.id}`)).body
  assert.deepEqual(
    children.map(({ title }: { title: string }) => title),
    ['Second'],
  )

  const sure = await given('request_confirmation', { prompt: 'Sure?' })
  const rejected = await make('POST', `${path}/${sure.id}/reject`, { reason: 'Not yet.' })
  assert.deepEqual([rejected.answer.confirmed, rejected.answer.note], [false, 'Not yet.'])

  assert.equal((await board('POST', path, { kind: 'confirm' })).body.details.fields[0].path, 'title')
  const twice = { kind: 'choose', title: 'Which?', options: [options[0], options[0]] }
  assert.equal((await board('POST', path, twice)).status, 422)
  assert.equal(
    (
      await board(
        'POST',
        `${path}/${(await given('request_checkbox_confirmation', { prompt: 'Which?', options })).id}/reject`,
        {},
      )
    ).status,
    400,
  )
})
