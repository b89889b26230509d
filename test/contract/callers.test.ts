import assert from 'node:assert/strict'
import { sql } from '../../src/platform/database/sql.ts'
import { insertRun } from '../arrange.ts'
import { contract } from './contract.ts'
import { good, statusOf } from './world.ts'

contract('Caller kinds', {
  'Caller: a board user is a human operator who may access the companies it belongs to': async ({
    request: send,
    company,
    other,
  }) => {
    const known = await good(send('GET', '/api/companies'))
    assert.deepEqual(
      known.map(({ id }: { id: string }) => id),
      [company.id, other.id],
    )
  },
  'Caller: an agent has a run JWT or an agent API key and is confined to its own company': async (world) => {
    const { engineer, other, stranger } = world
    const run = await insertRun(world, engineer)
    for (const send of [engineer.request, run.request]) {
      assert.equal((await send('GET', '/api/agents/me')).body.id, engineer.id)
      assert.equal(await statusOf(send('GET', `/api/companies/${other.id}/issues`)), 403)
      assert.equal(await statusOf(send('GET', `/api/agents/${stranger.id}`)), 404)
    }
  },
  'Caller: a CEO agent has the role ceo and extra rights on its own company': async ({
    ceo,
    manager,
    stranger,
    of,
  }) => {
    assert.equal((await good(ceo.request('PATCH', of(''), { name: 'Walrus & Co' }))).name, 'Walrus & Co')
    assert.equal(await statusOf(manager.request('PATCH', of(''), { name: 'Mine' })), 403)
    assert.equal(await statusOf(stranger.request('PATCH', of(''), { name: 'Mine' })), 403)
  },
  'Caller: a manager agent has subordinates and may request hires and reassign work': async ({
    manager,
    engineer,
    issue,
    of,
  }) => {
    await good(manager.request('POST', of('/agent-hires'), { name: 'New' }))
    const { id } = await issue({ assigneeAgentId: engineer.id, status: 'in_progress' })
    await good(manager.request('PATCH', `/api/issues/${id}`, { status: 'blocked', comment: 'Wait for the tide.' }))
    const unblocked = { status: 'todo', assigneeAgentId: manager.id, comment: 'Go on.' }
    assert.equal((await good(manager.request('PATCH', `/api/issues/${id}`, unblocked))).assigneeAgentId, manager.id)
  },
  'Caller: an IC agent has no subordinates and asks its manager for hires': async ({ engineer, manager, of }) => {
    const { status, body } = await engineer.request('POST', of('/agent-hires'), { name: 'New' })
    assert.equal(status, 403)
    assert.equal(body.details.managerId, manager.id)
  },
})

contract('Authentication', {
  'Credential: a run JWT, of the agent and its run, as a bearer token': async (world) => {
    const { engineer, ctx, issue } = world
    const run = await insertRun(world, engineer)
    const { id } = await issue()
    const comment = await good(run.request('POST', `/api/issues/${id}/comments`, { body: 'Here.' }))
    assert.deepEqual([comment.authorAgentId, comment.createdByRunId], [engineer.id, run.id])
    const token = await ctx.tokens.sign({ id: run.id, agentId: engineer.id, companyId: engineer.company_id })
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    assert.deepEqual([claims.sub, claims.runId], [engineer.id, run.id])
    assert.ok(claims.exp > claims.iat, 'it is short-lived')
  },
  'Credential: a long-lived agent key, stored hashed and shown once, as a bearer token': async ({
    make,
    request: send,
    as,
    ctx,
    engineer,
  }) => {
    const { token } = await make('POST', `/api/agents/${engineer.id}/keys`)
    assert.equal((await as(token)('GET', '/api/agents/me')).body.id, engineer.id)
    assert.ok(!JSON.stringify(await send('GET', `/api/agents/${engineer.id}/keys`)).includes(token))
    const rows = ctx.db.all(sql.selectFrom('agent_key').selectAll())
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(token))
  },
  'Credential: in local trusted mode every request without one is the local board': async ({
    request: send,
    issue,
  }) => {
    const { id } = await issue()
    const comment = await good(send('POST', `/api/issues/${id}/comments`, { body: 'Hello.' }))
    assert.deepEqual([comment.authorType, comment.authorUserId], ['user', 'local-board'])
  },
  'Credential: in authenticated mode a request without one is nobody': async (world) => {
    world.config.mode = 'authenticated'
    assert.equal(await statusOf(world.request('GET', '/api/companies')), 401)
    assert.equal(await statusOf(world.engineer.request('GET', '/api/agents/me')), 200)
  },
  'Authentication: a missing or invalid agent key is 401': async ({ as, request: send, of, config }) => {
    for (const key of ['svc_nonsense', 'nonsense', 'a.b.c']) {
      assert.equal(await statusOf(as(key)('GET', of('/issues'))), 401)
    }
    assert.equal(await statusOf(send('GET', of('/issues'), undefined, { authorization: 'Basic eDp5' })), 401)
    config.mode = 'authenticated'
    assert.equal(await statusOf(send('GET', of('/issues'))), 401)
  },
  'Authentication: an agent reaches its own company only; another one is 403': async ({ stranger, of, other }) => {
    for (const noun of ['agents', 'issues', 'goals', 'projects', 'approvals', 'activity', 'costs/summary']) {
      assert.equal(await statusOf(stranger.request('GET', of(`/${noun}`))), 403, noun)
      assert.equal(await statusOf(stranger.request('GET', `/api/companies/${other.id}/${noun}`)), 200, noun)
    }
  },
  'Authentication: a pending agent cannot create keys': async ({ make, of, request: send, company }) => {
    await make('PATCH', `/api/companies/${company.id}`, { requireBoardApprovalForNewAgents: true })
    const { agent } = await make('POST', of('/agent-hires'), { name: 'New' })
    assert.equal(await statusOf(send('POST', `/api/agents/${agent.id}/keys`)), 422)
  },
  'Permission: company branding is for the CEO and the board, the rest for the board': async ({
    request: send,
    ceo,
    manager,
    of,
  }) => {
    for (const branding of [{ name: 'W' }, { description: 'D' }, { brandColor: '#123456' }, { logoAssetId: null }]) {
      assert.equal(await statusOf(ceo.request('PATCH', of(''), branding)), 200)
      assert.equal(await statusOf(manager.request('PATCH', of(''), branding)), 403)
    }
    for (const rest of [{ status: 'active' }, { budgetMonthlyCents: 1 }, { requireBoardApprovalForNewAgents: true }]) {
      assert.equal(await statusOf(ceo.request('PATCH', of(''), { name: 'X', ...rest })), 403)
      assert.equal(await statusOf(send('PATCH', of(''), rest)), 200)
    }
    assert.equal((await good(send('GET', of('')))).name, 'W', 'a refused PATCH changes nothing')
  },
  'Permission: imports and exports are for the board and the same company’s CEO': async (world) => {
    const { request: send, ceo, manager, engineer, stranger, of } = world
    for (const path of ['/exports/preview', '/exports']) {
      const body = { include: { company: true } }
      assert.ok((await statusOf(send('POST', of(path), body))) < 300)
      assert.ok((await statusOf(ceo.request('POST', of(path), body))) < 300)
      for (const other of [manager, engineer, stranger]) {
        assert.equal(await statusOf(other.request('POST', of(path), body)), 403)
      }
    }
    for (const path of ['/imports/preview', '/imports/apply']) {
      for (const other of [manager, engineer, stranger]) {
        assert.equal(await statusOf(other.request('POST', of(path), {})), 403)
      }
    }
  },
  'Permission: the invite prompt is for the board and the CEO only': async (world) => {
    const path = world.of('/gateway/invite-prompt')
    assert.ok((await statusOf(world.request('POST', path, {}))) < 300)
    assert.ok((await statusOf(world.ceo.request('POST', path, {}))) < 300)
    for (const { request: send } of [world.manager, world.engineer, world.stranger]) {
      assert.equal(await statusOf(send('POST', path, {})), 403)
    }
  },
  'Permission: request-revision is for the board': async ({ request: send, ceo, thing }) => {
    const approval = await thing('approvals', { type: 'approve_ceo_strategy', payload: { plan: 'Grow' } })
    const path = `/api/approvals/${approval.id}/request-revision`
    assert.equal(await statusOf(ceo.request('POST', path)), 403)
    assert.equal((await good(send('POST', path, { decisionNote: 'Why?' }))).status, 'revision_requested')
  },
  'Permission: the instructions path is for the agent itself and ancestor managers': async (world) => {
    const { engineer, manager, ceo, colleague, stranger } = world
    const set = (by: { request: typeof world.request }) =>
      statusOf(by.request('PATCH', `/api/agents/${engineer.id}/instructions-path`, { path: '/srv/AGENTS.md' }))
    assert.deepEqual([await set(engineer), await set(manager), await set(ceo)], [200, 200, 200])
    assert.deepEqual([await set(colleague), await set(stranger)], [403, 404])
  },
  'Permission: hires are for managers and the CEO': async ({ ceo, manager, engineer, colleague, of }) => {
    for (const [by, status] of [
      [ceo, 201],
      [manager, 201],
      [engineer, 403],
      [colleague, 403],
    ] as const) {
      assert.equal(await statusOf(by.request('POST', of('/agent-hires'), { name: 'New' })), status, by.name)
    }
  },
  'Authentication: agents read everything in their company, whatever their place in it': async (world) => {
    const { engineer, ceo, issue, of } = world
    const { id } = await issue({ assigneeAgentId: ceo.id, status: 'backlog' })
    for (const path of [`/api/issues/${id}`, `/api/agents/${ceo.id}`, `/api/agents/${ceo.id}/configuration`]) {
      assert.equal(await statusOf(engineer.request('GET', path)), 200, path)
    }
    for (const path of ['/issues', '/agents', '/org', '/goals', '/projects', '/approvals', '/activity']) {
      assert.equal(await statusOf(engineer.request('GET', of(path))), 200, path)
    }
  },
})

contract('Versioning', {
  'Version: paths begin with /api and carry no version': async ({ request: send }) => {
    const { paths } = (await send('GET', '/api/openapi.json')).body
    for (const path of Object.keys(paths))
      assert.match(path, /^\/(api|llms|login|logout|setup|join|enter|reset|account)?(\/(?!v\d)|$)/)
  },
})

contract('Errors', {
  'Error 400: the body does not match the expected fields': async ({ request: send, of }) => {
    const { status, body } = await send('POST', of('/issues'), { title: 7, tittle: 'x' })
    assert.deepEqual([status, body.code], [400, 'validation_failed'])
    assert.deepEqual(body.details.fields.map((field: { path: string }) => field.path).sort(), ['title', 'tittle'])
    assert.deepEqual((await send('POST', of('/issues'), '{"title":')).body.code, 'malformed_json')
  },
  'Error 401: the key or token is missing or invalid': async (world) => {
    const { as, of, ctx } = world
    const { status, body, headers } = await as('svc_none')('GET', of('/issues'))
    assert.deepEqual([status, body.code, headers.get('www-authenticate')], [401, 'unauthenticated', 'Bearer'])
    const ended = await insertRun(world, world.engineer, { status: 'succeeded', finished_at: ctx.now })
    assert.deepEqual((await ended.request('GET', '/api/agents/me')).body.code, 'run_ended')
  },
  'Error 403: no permission, or another company': async ({ engineer, of, other }) => {
    assert.equal((await engineer.request('POST', of('/agents'), { name: 'New' })).body.code, 'forbidden')
    const { status, body } = await engineer.request('GET', `/api/companies/${other.id}/issues`)
    assert.deepEqual([status, body.code], [403, 'wrong_company'])
  },
  'Error 404: the entity does not exist or is not in the company of the caller': async ({
    request: send,
    stranger,
    issue,
  }) => {
    const { id } = await issue()
    const foreign = await stranger.request('GET', `/api/issues/${id}`)
    const unknown = await stranger.request('GET', '/api/issues/PUF-404')
    assert.deepEqual([foreign.status, foreign.body.code, unknown.status], [404, 'not_found', 404])
    assert.equal(await statusOf(send('GET', '/api/companies/nothing/issues')), 404)
  },
  'Error 409: the issue is owned by another agent, and the answer says to choose another': async (world) => {
    const { issue, colleague, engineer } = world
    const { id } = await issue()
    await good(colleague.request('POST', `/api/issues/${id}/checkout`, { agentId: colleague.id }))
    const { status, body } = await engineer.request('POST', `/api/issues/${id}/checkout`, { agentId: engineer.id })
    assert.deepEqual([status, body.code], [409, 'issue_taken'])
    assert.deepEqual([body.details.assigneeAgentId, body.details.assigneeName], [colleague.id, 'Bob'])
    assert.match(`${body.error} ${body.details.hint}`, /another issue|other issue/i)
  },
  'Error 422: an invalid state transition, such as backlog to done': async ({ request: send, issue }) => {
    const { id } = await issue({ status: 'backlog' })
    const { status, body } = await send('PATCH', `/api/issues/${id}`, { status: 'done' })
    assert.deepEqual([status, body.code], [422, 'invalid_transition'])
    assert.ok(body.details.allowed.includes('todo'))
  },
  'Error 500: a failure of the server is a transient one, and says nothing of itself': async (world) => {
    const { ctx, request: send, of } = world
    const write = ctx.write
    ctx.write = () => Promise.reject(new Error('the disk is on fire'))
    // `ask` fails if the response is a 5xx, and its message contains the response.
    const printed = await send('POST', of('/issues'), { title: 'Fight it' }).catch((error: Error) => error.message)
    ctx.write = write
    const displayed = /"error":"[^"]*","code":"[^"]*"/.exec(String(printed))?.[0]
    assert.equal(displayed, '"error":"Internal error.","code":"internal"')
    assert.equal(await statusOf(send('POST', of('/issues'), { title: 'Fight it again' })), 201)
  },
  'Error: collisionStrategy replace is refused': async (world) => {
    const body = {
      source: { type: 'inline', files: { 'COMPANY.md': '---\nname: New\n---\n' } },
      target: { mode: 'existing_company', companyId: world.company.id },
      collisionStrategy: 'replace',
    }
    for (const path of ['/imports/preview', '/imports/apply']) {
      const { status } = await world.request('POST', world.of(path), body)
      assert.ok([400, 422].includes(status), `${status}`)
    }
  },
  'Error: the invite prompt is refused to an agent that is not the CEO': async ({ manager, of }) => {
    assert.equal(await statusOf(manager.request('POST', of('/gateway/invite-prompt'), {})), 403)
  },
})
