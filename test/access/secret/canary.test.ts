import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { asAgent, insertIssue } from '../../arrange.ts'
import { createTestRuns } from '../../runs.ts'
import { filesWith, formsOf } from './find.ts'

/** Returns a test secret that matches no key format, with characters that URLs and base64 encode. */
const canary = (name: string) => `canary/of the ${name}+42`

const C = {
  env: canary('env'),
  patched: canary('patched env'),
  argument: canary('argument'),
  option: canary('option'),
  header: canary('header'),
  metadata: canary('metadata'),
  project: canary('project'),
  hire: canary('hire'),
  hireMetadata: canary('hired metadata'),
  payload: canary('payload'),
  stored: canary('stored secret'),
  looks: 'sk-c4n4ryc4n4ryc4n4ry42',
}

/** Returns a command that exits with 0 if it has these values, and does not print them. */
const commandExpecting = (env: Record<string, string>, args: string[]) => {
  const hashes = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, hash('sha256', value)]))
  const check = `
    const is = (value, expected) => require('node:crypto').hash('sha256', String(value)) === expected
    const right = Object.entries(${JSON.stringify(hashes)}).every(([name, expected]) => is(process.env[name], expected))
    process.exitCode = right && is(process.argv.slice(1), '${hash('sha256', String(args))}') ? 0 : 3`
  return { command: process.execPath, args: ['-e', check, '--', ...args] }
}

/** Starts an HTTP endpoint for wakes that records the request headers. */
async function listen(t: TestContext) {
  const received: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    received.push(request.headers)
    request.resume().on('end', () => response.end('ok'))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received }
}

test('a redacted value reaches its run, and is nowhere in the data directory', async (t) => {
  const runs = await createTestRuns(t)
  const { companyId, config, runUntilIdle } = runs
  const responses: unknown[] = []
  let requested = 0
  const make = async (method: string, path: string, body?: object, send = runs.request) => {
    const { status, body: reply } = await send(method, path, body, { 'idempotency-key': `k${requested++}` })
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(reply)}`)
    responses.push(reply)
    return reply
  }
  const at = `/api/companies/${companyId}`

  await make('POST', `${at}/secrets`, { name: 'STORED', value: C.stored })
  const project = await make('POST', `${at}/projects`, { name: 'Map', env: { OF_PROJECT: 'another' } })
  await make('PATCH', `/api/projects/${project.id}`, { env: { OF_PROJECT: C.project } })
  const agent = await make('POST', `${at}/agents`, {
    name: 'Visible',
    adapterType: 'process',
    adapterConfig: { command: 'true', env: { PLACE: C.env, STORED: { $secret: 'STORED' } } },
    metadata: { deep: [{ clientSecret: C.metadata, pin: 7 }], note: `Use ${C.looks}.` },
  })
  const args = ['--api-key', C.argument, `--auth-token=${C.option}`, C.looks]
  const env = { PLACE: C.patched, STORED: C.stored, OF_PROJECT: C.project }
  await make('PATCH', `/api/agents/${agent.id}`, {
    adapterConfig: { ...commandExpecting(env, args), env: { PLACE: C.patched } },
  })
  const [patched, created] = (await runs.request('GET', `/api/agents/${agent.id}/config-revisions`)).body
  await make('POST', `/api/agents/${agent.id}/config-revisions/${created.id}/rollback`)
  await make('POST', `/api/agents/${agent.id}/config-revisions/${patched.id}/rollback`)

  const { url, received } = await listen(t)
  const caller = await make('POST', `${at}/agents`, {
    name: 'Caller',
    adapterType: 'http',
    adapterConfig: { url, headers: { 'x-place': C.header, authorization: { $secret: 'STORED' } } },
  })
  const ceo = await make('POST', `${at}/agents`, { name: 'Chief', role: 'ceo' })
  const asCeo = await asAgent(runs, { id: ceo.id })
  const hire = await make(
    'POST',
    `${at}/agent-hires`,
    {
      name: 'Hired',
      adapterType: 'process',
      adapterConfig: { ...commandExpecting({ PLACE: C.hire }, []), env: { PLACE: C.hire } },
      metadata: { password: C.hireMetadata },
    },
    asCeo,
  )
  assert.deepEqual(hire.approval.payload.runs.env, { PLACE: '[redacted]' })
  await make('POST', `/api/approvals/${hire.approval.id}/approve`)
  const payload = { plan: 'Grow', apiKey: C.payload }
  const strategy = await make('POST', `${at}/approvals`, { type: 'approve_ceo_strategy', payload })
  await make('POST', `/api/approvals/${strategy.id}/request-revision`)
  await make('POST', `/api/approvals/${strategy.id}/resubmit`, { payload })

  const issue = insertIssue(runs.ctx, { company_id: companyId, project_id: project.id, assignee_agent_id: agent.id }).id
  const rehearsal = await make('POST', `/api/agents/${agent.id}/rehearse`, { issueId: issue })
  assert.deepEqual(rehearsal.gates, [])
  const adapterConfig = { promptTemplate: `Use ${C.looks}.` }
  const painter = await make('POST', `${at}/agents`, { name: 'Painter', adapterConfig })
  const { prompt } = await make('POST', `/api/agents/${painter.id}/rehearse`, {})
  assert.match(prompt, /^Use \[redacted\]\./)
  await make('POST', `/api/agents/${agent.id}/heartbeat/invoke`, { issueId: issue })
  await make('POST', `/api/agents/${caller.id}/heartbeat/invoke`)
  await make('POST', `/api/agents/${hire.agent.id}/heartbeat/invoke`)
  await runUntilIdle()
  const ran = (await runs.runs()).filter((run) => run.agentId !== ceo.id)
  assert.deepEqual(
    ran.map((run) => [run.status, run.error]),
    Array(3).fill(['succeeded', null]),
  )
  assert.equal(received[0]!['x-place'], C.header)
  assert.equal(received[0]!.authorization, C.stored)

  const include = { company: true, agents: true, projects: true, issues: true }
  const { files } = await make('POST', `${at}/exports`, { include })
  const source = { type: 'inline', files }
  await make('POST', '/api/companies/import/apply', { source, target: { mode: 'new_company' } })
  for (const read of ['activity', 'agent-configurations', 'agents', 'projects', 'runs', 'dashboard'])
    responses.push((await runs.request('GET', `${at}/${read}`)).body)
  // The board sees the proposed configuration there (test/work/staffing/hire.test.ts).
  responses.push((await asCeo('GET', `${at}/approvals`)).body)
  for (const read of ['config-revisions', 'runtime-state'])
    responses.push((await runs.request('GET', `/api/agents/${agent.id}/${read}`)).body)
  for (const { id } of ran) responses.push((await runs.request('GET', `/api/runs/${id}/log`)).body)
  const database = new Sqlite(path.join(config.dataDir, 'service.db'))
  database.exec(`vacuum into '${path.join(config.dataDir, 'backup.db')}'`)
  database.close()

  const found = filesWith(config.dataDir, 'Visible').map((file) => path.basename(file))
  for (const file of ['service.db-wal', 'backup.db']) assert.ok(found.includes(file), `the search finds it in ${file}`)
  const displayed = JSON.stringify([responses, runs.logged])
  for (const [name, value] of Object.entries(C)) {
    assert.deepEqual(filesWith(config.dataDir, value), [], name)
    for (const form of formsOf(value)) assert.ok(!displayed.includes(form), `${name} as ${form} in an answer or a log`)
  }
})
