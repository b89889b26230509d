import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPrompt } from '../../../src/adapter/prompt.ts'
import { findApprovalBrief } from '../../../src/runtime/executor/prepare-queries.ts'
import { arrange } from './arrange.ts'

const PAYLOAD = { title: 'Buy the domain?', question: 'It costs $12.', options: ['Buy', 'Wait'], recommended: 'Wait' }

test('any agent can send a request to the board; the decision wakes the agent and is in its prompt', async (t) => {
  const { engineer, path, decide, wakeOf, ctx, request } = await arrange(t)
  const body = { type: 'request_board_approval', payload: PAYLOAD }
  const requested = (await engineer.request('POST', path, body)).body
  assert.deepEqual([requested.status, requested.payload, requested.chosenOption], ['pending', PAYLOAD, null])
  const [item] = (await request('GET', '/api/inbox?kind=approval')).body
  assert.equal(item.title, 'Buy the domain?')
  assert.equal((await decide(requested, 'approve', { option: 'Sell' })).status, 422)
  assert.equal((await decide(requested, 'reject', { option: 'Buy' })).status, 422)
  const decided = (await decide(requested, 'approve', { option: 'Buy', decisionNote: 'For a year.' })).body
  assert.deepEqual([decided.status, decided.chosenOption], ['approved', 'Buy'])
  assert.deepEqual(
    [wakeOf(engineer)?.reasons[0].source, wakeOf(engineer)?.reasons[0].approvalId],
    ['approval_resolved', requested.id],
  )
  const prompt = buildPrompt({
    agent: { id: 'a', name: 'Ada', role: 'engineer', title: null },
    company: { id: 'c', name: 'Walrus' },
    runId: 'r',
    reasons: ['approval_resolved'],
    issue: null,
    comment: null,
    approval: findApprovalBrief(ctx.db, requested.id)!,
    others: [],
    instructions: null,
    skills: [],
    promptTemplate: null,
  })
  assert.match(prompt, /request_board_approval "Buy the domain\?", approved: Buy \(id /)
  assert.match(prompt, /> For a year\.$/)
})

test('approving without an option selects the recommended option; without a recommendation an option is required', async (t) => {
  const { engineer, path, decide } = await arrange(t)
  const make = async (payload: object) =>
    (await engineer.request('POST', path, { type: 'request_board_approval', payload })).body
  assert.equal((await decide(await make(PAYLOAD), 'approve')).body.chosenOption, 'Wait')
  const open = await make({ ...PAYLOAD, recommended: null })
  const refused = await decide(open, 'approve')
  assert.deepEqual([refused.status, refused.body.details.fields[0].path], [422, 'option'])
  assert.equal((await decide(open, 'reject')).status, 200)
  const plain = await decide(await make({ title: 'May I?', risks: 'None.' }), 'approve')
  assert.deepEqual([plain.status, plain.body.chosenOption], [200, null])
})

test('a request to the board requires a title and distinct options, and recommends one of them', async (t) => {
  const { engineer, path, decide } = await arrange(t)
  const rows: [object, number, string][] = [
    [{}, 400, 'payload.title'],
    [{ title: ' ' }, 400, 'payload.title'],
    [{ title: 'x', options: ['A', 'A'] }, 400, 'payload.options'],
    [{ title: 'x', options: 'A' }, 400, 'payload.options'],
    [{ title: 'x', options: ['A', 'B'], recommended: 'C' }, 422, 'payload.recommended'],
  ]
  for (const [payload, status, field] of rows) {
    const response = await engineer.request('POST', path, { type: 'request_board_approval', payload })
    assert.deepEqual([response.status, response.body.details.fields[0].path], [status, field], JSON.stringify(payload))
  }
  const requested = (await engineer.request('POST', path, { type: 'request_board_approval', payload: PAYLOAD })).body
  await decide(requested, 'request-revision')
  const resubmit = (payload: object) => engineer.request('POST', `/api/approvals/${requested.id}/resubmit`, { payload })
  assert.equal((await resubmit({ question: 'And now?' })).status, 400)
  assert.equal((await resubmit({ ...PAYLOAD, title: 'Buy it?' })).status, 200)
})
