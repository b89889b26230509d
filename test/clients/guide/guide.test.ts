import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { ADAPTERS } from '../../../src/adapter/registry.ts'
import { ADAPTER_TYPES } from '../../../src/adapter/types.ts'
import { keysOf } from '../../../src/clients/guide/keys.ts'
import { NewAgent } from '../../../src/organization/agent/agent.ts'
import { AGENT_ICONS } from '../../../src/organization/agent/icons.ts'
import { RuntimeConfig } from '../../../src/organization/agent/runtime-config.ts'
import { asAgent, insertIssue, insertRunRow } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

const GUIDES = [
  '/llms/agent-configuration.txt',
  ...ADAPTER_TYPES.map((type) => `/llms/agent-configuration/${type}.txt`),
]

for (const policy of [false, true]) {
  for (const guide of GUIDES) {
    test(`every request of ${guide} is accepted unchanged, ${policy ? 'with' : 'without'} approvals`, async (t) => {
      const app = createTestApp(t)
      const env = await ceoIn(app, policy)
      const { body: text } = await app.request('GET', guide)
      const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!)
      assert.ok(blocks.length > 0)
      for (const block of blocks) {
        // A company without approvals has no approval to read, and a pending agent does not run.
        if (block.includes('$APPROVAL_ID') && !env.APPROVAL_ID) continue
        const { method, path, headers, body } = readByShell(block, env)
        const response = await app.request(method, path, body, headers)
        const isRefusedRightly = policy && path.endsWith('/heartbeat/invoke') && response.status === 422
        assert.ok(response.status < 300 || isRefusedRightly, `${block}\n${JSON.stringify(response.body)}`)
        if (path.endsWith('/agent-hires')) {
          assert.equal(response.body.agent.reportsTo, env.SERVICE_AGENT_ID)
          env.AGENT_ID ??= response.body.agent.id
          if (response.body.approval) env.APPROVAL_ID ??= response.body.approval.id
        }
      }
      assert.equal(Boolean(env.APPROVAL_ID), policy || /process|http/.test(guide))
    })
  }
}

test('the guide documents every key of a hire, of runtimeConfig and of each adapter', async (t) => {
  const app = createTestApp(t)
  const { body: guide } = await app.request('GET', GUIDES[0]!)
  const schemas = [NewAgent, RuntimeConfig.entries.heartbeat.wrapped, ...ADAPTERS.map((adapter) => adapter.config)]
  for (const key of schemas.flatMap((schema) => keysOf(schema))) {
    assert.match(key.description, /\S{2}/, key.name)
    assert.ok(guide.includes(`- \`${key.name}\` (${key.type}, `), key.name)
  }
  assert.match(guide, /- `timeoutSec` \(integer from 1 to 86400, default 3600\): /)
  assert.match(guide, /- `command` \(string, required\): /)
  assert.match(guide, /- `desiredSkills` \(array of string, optional\): /)
  assert.match(guide, /- `icon` \(one of \d+ names or null, optional\): /)
  assert.doesNotMatch(guide, /undefined|\[object|NaN/)
})

test('the guide of an adapter describes that adapter, and an unknown adapter returns 404', async (t) => {
  const app = createTestApp(t)
  for (const adapter of ADAPTERS) {
    const { status, body, headers } = await app.request('GET', `/llms/agent-configuration/${adapter.type}.txt`)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.ok(body.startsWith(`# ${adapter.type}\n`))
    for (const key of keysOf(adapter.config)) assert.ok(body.includes(`\`${key.name}\``), key.name)
  }
  for (const name of ['nothing', 'toString', 'runtimeA_local.txt', '%2e%2e']) {
    assert.equal((await app.request('GET', `/llms/agent-configuration/${name}.txt`)).status, 404, name)
  }
  assert.equal((await app.request('GET', '/llms/agent-configuration/runtimeA_local')).status, 404)
})

test('an agent accepts every listed icon, and no other icon', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const { body, headers } = await app.request('GET', '/llms/agent-icons.txt')
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  const names = [...body.matchAll(/^- (.+)$/gm)].map((match) => match[1]!)
  assert.deepEqual(names, [...AGENT_ICONS])
  for (const icon of [names[0], names.at(-1)]) {
    assert.equal((await makeAgent(app, companyId, { icon })).icon, icon)
  }
  const wrong = await app.request('POST', `/api/companies/${companyId}/agents`, { name: 'x', icon: 'no-such-icon' })
  assert.equal(wrong.status, 400)
})

test('any agent can read the guides, and an invalid key is refused', async (t) => {
  const app = createTestApp(t)
  const request = await asAgent(app, await makeAgent(app, await makeCompany(app)))
  for (const guide of [...GUIDES, '/llms/agent-icons.txt']) {
    assert.equal((await request('GET', guide)).status, 200)
    assert.equal((await app.as('svc_wrong')('GET', guide)).status, 401)
  }
})

/** Creates a company with a CEO that works on an issue. Returns the environment of its run. */
async function ceoIn(app: TestApp, requireBoardApprovalForNewAgents: boolean): Promise<Record<string, string>> {
  const companyId = await makeCompany(app, { requireBoardApprovalForNewAgents })
  const { agent: ceo, approval } = await app.make('POST', `/api/companies/${companyId}/agent-hires`, {
    name: 'Boss',
    role: 'ceo',
  })
  if (approval) await app.make('POST', `/api/approvals/${approval.id}/approve`)
  const runId = insertRunRow(app.ctx, ceo)
  return {
    SERVICE_API_URL: 'http://service',
    SERVICE_API_KEY: await app.ctx.tokens.sign({ id: runId, agentId: ceo.id, companyId }),
    SERVICE_AGENT_ID: ceo.id,
    SERVICE_COMPANY_ID: companyId,
    SERVICE_TASK_ID: insertIssue(app.ctx, { company_id: companyId }).id,
  }
}

/** Returns the arguments that a real shell passes to curl. */
function readByShell(block: string, env: Record<string, string>) {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${block}`
  const words = execFileSync('sh', ['-euc', script], { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' })
  const [silent, x, method, url, ...options] = words.split('\0').slice(0, -1)
  assert.deepEqual([silent, x], ['-sS', '-X'])
  const headers: Record<string, string> = {}
  let body: string | undefined
  for (let i = 0; i < options.length; i += 2) {
    const [option, value] = [options[i], options[i + 1]!]
    if (option === '-d') body = value
    else headers[value.split(': ')[0]!.toLowerCase()] = value.split(': ')[1]!
  }
  if (body !== undefined) assert.ok(JSON.parse(body))
  return { method: method!, path: url!.replace('http://service', ''), headers, body }
}

test('the guide of an adapter is also found by the name that similar products use', async (t) => {
  const { request } = createTestApp(t)
  for (const [alias, type] of [
    ['claude_local', 'runtimeA_local'],
    ['codex_local', 'runtimeB_local'],
  ]) {
    const { status, body } = await request('GET', `/api/llms/agent-configuration/${alias}.txt`)
    assert.equal(status, 200)
    assert.equal(body, (await request('GET', `/llms/agent-configuration/${type}.txt`)).body)
  }
  assert.equal((await request('GET', '/llms/agent-configuration/constructor.txt')).status, 404)
})
