import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import { VERSIONS } from '../../../src/clients/mcp/respond.ts'
import { TOOLS } from '../../../src/clients/mcp/tools.ts'
import { startTestServer } from '../../server.ts'
import { environment, LAUNCHER } from '../cli/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of results.
type Call = (name: string, args?: Record<string, unknown>) => Promise<any>

/** Connects an MCP client. `call` expects success, and `fail` expects an error. */
async function connect(t: TestContext, transport: Parameters<Client['connect']>[0]) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  t.after(() => client.close())
  const request = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args })
    const [{ text }] = result.content as [{ text: string }]
    let content: unknown = text
    try {
      content = JSON.parse(text)
    } catch {
      // get_org returns text.
    }
    return { isError: result.isError === true, content }
  }
  const call: Call = async (name, args = {}) => {
    const { isError, content } = await request(name, args)
    assert.ok(!isError, `${name}: ${JSON.stringify(content)}`)
    return content
  }
  const fail: Call = async (name, args = {}) => {
    const { isError, content } = await request(name, args)
    assert.ok(isError, `${name} did not fail: ${JSON.stringify(content)}`)
    return content
  }
  return { client, call, fail }
}

const overHttp = (t: TestContext, url: string, token?: string) =>
  connect(
    t,
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    }) as never,
  )

/** Creates a company with a manager and an engineer with a key. */
async function arrange(t: TestContext) {
  const { server, canaries } = await startTestServer(t)
  const send = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
    assert.ok(response.ok, `${path}: ${await response.clone().text()}`)
    return response.json() as Promise<{ id: string; token: string }>
  }
  const { id: companyId } = await send('/api/companies', { name: 'Tern' })
  const hire = {
    adapterType: 'process',
    adapterConfig: { command: 'true' },
    runtimeConfig: { heartbeat: { wakeOnDemand: false } },
  }
  const mara = await send(`/api/companies/${companyId}/agents`, { name: 'Mara', role: 'ceo', ...hire })
  const kit = await send(`/api/companies/${companyId}/agents`, { name: 'Kit', reportsTo: mara.id, ...hire })
  const { token: key } = await send(`/api/agents/${kit.id}/keys`, { name: 'mcp' })
  canaries.notice('agent key', key)
  return { url: server.url, key, send, companyId }
}

test('an agent completes an issue with tools only, using names instead of ids', async (t) => {
  const { url, key, send, companyId } = await arrange(t)
  await send(`/api/companies/${companyId}/projects`, { name: 'Tide table' })
  await send(`/api/companies/${companyId}/goals`, { title: 'Ship it' })
  const board = await overHttp(t, url)
  const agent = await overHttp(t, url, key)

  const made = await board.call('create_issue', {
    title: 'Count the tides',
    assignee: 'kit',
    project: 'Tide table',
    goal: 'ship it',
  })
  assert.deepEqual((await agent.call('whoami')).name, 'Kit')
  assert.deepEqual(
    (await agent.call('inbox')).map((item: { identifier: string }) => item.identifier),
    [made.identifier],
  )
  const issue = made.identifier
  const context = await agent.call('get_context', { issue })
  assert.deepEqual([context.project.name, context.goal.title, context.issue.assignee], ['Tide table', 'Ship it', 'Kit'])
  assert.equal((await agent.call('checkout_issue', { issue })).status, 'in_progress')
  const part = await agent.call('create_child', { parent: issue, title: 'Measure', assignee: 'me', blockedBy: [] })
  assert.equal((await agent.call('get_issue', { issue: part.identifier })).parents[0].identifier, issue)
  await agent.call('write_document', { issue, key: 'plan', body: 'First' })
  await agent.call('write_document', { issue, key: 'plan', body: 'Second', summary: 'Better' })
  const revisions = await agent.call('list_document_revisions', { issue, key: 'plan' })
  await agent.call('restore_document', { issue, key: 'plan', revisionId: revisions.at(-1).revisionId })
  assert.equal((await agent.call('get_document', { issue, key: 'plan' })).body, 'First')
  assert.equal((await agent.call('list_documents', { issue }))[0].key, 'plan')
  await agent.call('add_comment', { issue, body: 'Half done, @Mara.' })
  assert.match((await board.call('list_comments', { issue })).comments.at(-1).body, /Half done/)
  await agent.call('update_issue', { issue: part.identifier, status: 'cancelled' })
  await agent.call('report_cost', { issue, provider: 'weather', model: 'tides', costDollars: 0.02 })
  await agent.call('update_issue', { issue, status: 'done', comment: 'Counted.' })
  const why = await board.call('why_issue', { issue })
  assert.deepEqual([why.status, why.costDollars], ['done', 0.02])
  assert.equal((await board.call('search', { query: 'tides' })).issues[0].identifier, issue)
  assert.deepEqual((await board.call('list_issues')).issues, [])
  assert.equal((await board.call('list_issues', { status: ['done'], assignee: 'Kit' })).issues.length, 1)
})

test('an agent reads the organization and requests decisions from people', async (t) => {
  const { url, key, send, companyId } = await arrange(t)
  await send(`/api/companies/${companyId}/projects`, { name: 'Tide table', description: 'All of it' })
  await send(`/api/companies/${companyId}/goals`, { title: 'Ship it' })
  const agent = await overHttp(t, url, key)
  const board = await overHttp(t, url)
  assert.equal(await agent.call('get_org'), 'Mara (ceo, idle)\n  Kit (engineer, idle)')
  assert.deepEqual((await agent.call('list_agents')).map((one: { name: string }) => one.name).sort(), ['Kit', 'Mara'])
  assert.equal((await agent.call('get_agent', { agent: 'me' })).manager, 'Mara')
  assert.equal((await agent.call('get_project', { project: 'tide table' })).description, 'All of it')
  assert.equal((await agent.call('list_projects'))[0].name, 'Tide table')
  assert.equal((await agent.call('get_goal', { goal: 'Ship it' })).status, (await agent.call('list_goals'))[0].status)
  const { identifier: issue } = await board.call('create_issue', { title: 'Decide', assignee: 'Kit' })
  const approval = (
    await agent.call('request_approval', { title: 'Which harbour?', options: ['North', 'South'], recommended: 'North' })
  ).id
  await agent.call('link_approval', { approval, issue })
  await agent.call('comment_approval', { approval, body: 'It is urgent.' })
  assert.equal((await agent.call('list_approvals', { status: 'pending' }))[0].title, 'Which harbour?')
  assert.equal((await agent.call('get_approval', { approval })).comments[0].by, 'Kit')
  assert.equal((await agent.call('ask_board', { issue, kind: 'confirm', title: 'Go on?' })).status, 'pending')
  assert.ok((await board.call('inbox')).length > 0)
  const hired = await board.call('hire_agent', {
    name: 'Ines',
    role: 'researcher',
    manager: 'Mara',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
  })
  assert.equal(hired.agent.name, 'Ines')
  assert.match(
    JSON.stringify(await agent.call('api_request', { method: 'GET', path: '/api/agents/me' })),
    /"name":"Kit"/,
  )
})

test('an error says what to do, and no tool exceeds the permissions of the caller', async (t) => {
  const { url, key } = await arrange(t)
  const board = await overHttp(t, url)
  const agent = await overHttp(t, url, key)
  assert.equal((await board.fail('get_issue', { issue: 'TER-999' })).code, 'not_found')
  const unknown = await board.fail('create_issue', { title: 'x', assignee: 'Nobody' })
  assert.match(unknown.error, /no agent Nobody.*Mara/)
  assert.match((await board.fail('create_issue', { titel: 'x' })).error, /title/)
  assert.equal((await board.fail('no_such_tool')).code, 'not_found')
  assert.equal((await board.fail('get_agent', { agent: 'me' })).code, 'validation_failed')
  const denied = await agent.fail('api_request', { method: 'POST', path: '/api/companies', body: { name: 'Mine' } })
  assert.equal(denied.code, 'forbidden')
  const { identifier: issue } = await board.call('create_issue', { title: 'Taken' })
  await board.call('checkout_issue', { issue, agent: 'Mara' })
  const taken = await agent.fail('checkout_issue', { issue })
  assert.deepEqual([taken.code, /Mara/.test(taken.error)], ['issue_taken', true])
})

test('every tool is listed with a description and a closed JSON schema', async (t) => {
  const { url } = await arrange(t)
  const { client } = await overHttp(t, url)
  const { tools } = await client.listTools()
  assert.equal(tools.length, TOOLS.length)
  for (const { name, description, inputSchema } of tools) {
    assert.match(name, /^[a-z_]+$/)
    assert.ok(description, name)
    assert.deepEqual([inputSchema.type, inputSchema.additionalProperties], ['object', false], name)
  }
})

test('/mcp passes the request checks, requires a credential if needed, and refuses invalid messages', async (t) => {
  const { url } = await arrange(t)
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    })
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  assert.equal((await post(list)).status, 200)
  assert.equal((await post(list, { origin: 'http://evil.test' })).status, 403)
  assert.equal((await post(list, { authorization: 'Bearer wrong' })).status, 401)
  assert.equal((await post(list, { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await post('{')).status, 400)
  assert.equal((await post('{}')).status, 400)
  const batch = (length: number) => post(`[${Array.from({ length }, () => list).join(',')}]`)
  assert.deepEqual([(await batch(10)).status, (await batch(11)).status], [200, 400])
  assert.equal((await post(`"${'x'.repeat(3 * 1024 * 1024)}"`)).status, 413)
  assert.equal((await fetch(`${url}/mcp`)).status, 405)
})

test('/mcp responds to the methods of the protocol, and to notifications with 202', async (t) => {
  assert.deepEqual(VERSIONS, SUPPORTED_PROTOCOL_VERSIONS)
  const { url } = await arrange(t)
  const post = async (body: object, headers: Record<string, string> = {}) => {
    const init = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }
    const response = await fetch(`${url}/mcp`, init)
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  const message = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
  const initialize = async (protocolVersion: string) =>
    (await post(message('initialize', { protocolVersion }))).body.result.protocolVersion
  assert.deepEqual([await initialize('2025-03-26'), await initialize('1999-01-01')], ['2025-03-26', VERSIONS[0]])
  assert.deepEqual((await post(message('ping', {}, 'a'))).body, { jsonrpc: '2.0', id: 'a', result: {} })
  assert.equal((await post(message('resources/list'))).body.error.code, -32601)
  assert.equal((await post(message('tools/call'))).body.error.code, -32602)
  assert.deepEqual(await post({ jsonrpc: '2.0', method: 'notifications/initialized' }), { status: 202, body: null })
  const batch = [message('ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }]
  assert.deepEqual((await post(batch)).body, [{ jsonrpc: '2.0', id: 1, result: {} }])
  assert.equal((await post(message('ping'), { 'mcp-protocol-version': '1999-01-01' })).status, 400)
  for (const bad of [[], [1], { jsonrpc: '1.0', id: 1, method: 'ping' }, message('ping', {}, {})]) {
    assert.equal((await post(bad)).status, 400, JSON.stringify(bad))
  }
})

test('`service mcp` serves the same tools on standard input and output', async (t) => {
  const { url, key } = await arrange(t)
  const { call } = await connect(
    t,
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'mcp', '--url', url],
      env: { ...(environment() as Record<string, string>), SERVICE_API_KEY: key },
    }),
  )
  assert.equal((await call('whoami')).name, 'Kit')
})

test('with a key of scope read, tools that read succeed and each change is refused', async (t) => {
  const { url, send, companyId } = await arrange(t)
  const { id } = await send(`/api/companies/${companyId}/agents`, {
    name: 'Ines',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
  })
  const { token } = await send(`/api/agents/${id}/keys`, { name: 'screen', scope: 'read' })
  const reader = await overHttp(t, url, token)
  assert.equal((await reader.call('whoami')).name, 'Ines')
  assert.equal((await reader.call('list_agents')).length, 3)
  assert.deepEqual((await reader.call('search', { query: 'tides' })).issues, [])
  for (const [name, args] of [
    ['create_issue', { title: 'Draw' }],
    ['api_request', { method: 'POST', path: `/api/companies/${companyId}/issues`, body: { title: 'Draw' } }],
    ['report_cost', { provider: 'a', model: 'b', costDollars: 1 }],
  ] as const) {
    const { code, error } = await reader.fail(name, args)
    assert.deepEqual([code, error], ['forbidden', 'This key has the scope read. Use a key with the scope work.'], name)
  }
})
