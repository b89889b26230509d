import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact } from '../../../src/access/redaction/redact.ts'
import { asAgent } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { makeAgent, makeCompany, plainConfig } from '../../make.ts'

const CANARY = 'c4n4ry'

const SECRETS = {
  env: { HARMLESS_NAME: `${CANARY}-env`, REFERRED: { $secret: 'STORED' } },
  extraArgs: ['--verbose', '--api-key', `${CANARY}-arg`, `--auth-token=${CANARY}-option`, 'plain'],
  promptTemplate: `Use https://user:${CANARY}-url@example.com and sk-${CANARY}abcdefghijkl, not sk-learn-the-library. https://example.com/in?api_key=${CANARY}-parameter`,
}

/** Returns the text of every response that contains an agent. */
async function readEverything(app: TestApp, companyId: string, agentId: string): Promise<string> {
  const paths = [
    `/api/agents/${agentId}`,
    `/api/agents/${agentId}/configuration`,
    `/api/agents/${agentId}/config-revisions`,
    `/api/agents/${agentId}/runtime-state`,
    `/api/companies/${companyId}/agents`,
    `/api/companies/${companyId}/agent-configurations`,
    `/api/companies/${companyId}/org`,
    `/api/companies/${companyId}/activity`,
  ]
  const reader = await asAgent(app, { id: agentId })
  const responses = []
  for (const request of [app.request, reader]) for (const path of paths) responses.push(await request('GET', path))
  for (const response of responses) assert.equal(response.status, 200)
  return JSON.stringify(responses.map((response) => response.body))
}

test('no response, activity or log contains a secret of a configuration', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, {
    adapterConfig: SECRETS,
    metadata: { deep: [{ clientSecret: `${CANARY}-meta` }], maxTokens: 5 },
  })
  const patch = { adapterConfig: { env: { ANOTHER: `${CANARY}-patched` } } }
  const patched = await app.make('PATCH', `/api/agents/${agent.id}`, patch)
  const revisions = (await app.request('GET', `/api/agents/${agent.id}/config-revisions`)).body
  const rolled = await app.make('POST', `/api/agents/${agent.id}/config-revisions/${revisions.at(-1).id}/rollback`)
  const text = JSON.stringify([agent, patched, rolled]) + (await readEverything(app, companyId, agent.id))
  assert.ok(!text.includes(CANARY), text.slice(text.indexOf(CANARY) - 80, text.indexOf(CANARY) + 20))
  assert.ok(!app.logged.join('').includes(CANARY))
  assert.deepEqual(agent.adapterConfig, {
    env: { HARMLESS_NAME: '[redacted]', REFERRED: { $secret: 'STORED' } },
    extraArgs: ['--verbose', '--api-key', '[redacted]', '--auth-token=[redacted]', 'plain'],
    promptTemplate:
      'Use https://[redacted]@example.com and [redacted], not sk-learn-the-library. https://example.com/in?api_key=[redacted]',
  })
  assert.deepEqual(agent.metadata, { deep: [{ clientSecret: '[redacted]' }], maxTokens: 5 })
})

const DISPLAYED: [value: unknown, displayed: unknown][] = [
  ['https://x.test/in?api_key=c4n4ry&n=1', 'https://x.test/in?api_key=[redacted]&n=1'],
  ['https://x.test/#access_token=c4n4ry', 'https://x.test/#access_token=[redacted]'],
  ['https://x.test/?key=c4n4ryc4n4ryc4n4ry99', 'https://x.test/?key=[redacted]'],
  ['[a](https://x.test/?token=svc_c4n4ryc4n4ry) b', '[a](https://x.test/?token=[redacted]) b'],
  ['https://x.test/?sort_key=created_at&token=$TOKEN', 'https://x.test/?sort_key=created_at&token=$TOKEN'],
  [
    ['-H', 'Authorization: Basic c4n4ry'],
    ['-H', 'Authorization: [redacted]'],
  ],
  [
    ['X-Api-Key:c4n4ry', 'DB_PASSWORD=c4n4ry'],
    ['X-Api-Key:[redacted]', 'DB_PASSWORD=[redacted]'],
  ],
  [
    ['token:', 'a password is required', '--sort-key=created_at'],
    ['token:', 'a password is required', '--sort-key=created_at'],
  ],
]

for (const [value, displayed] of DISPLAYED) {
  test(`${JSON.stringify(value)} is displayed as ${JSON.stringify(displayed)}, also if it is redacted again`, () => {
    assert.deepEqual(redact({ value }), { value: displayed })
    assert.deepEqual(redact({ value: displayed }), { value: displayed })
  })
}

test('sending back a redacted configuration changes no secret', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { adapterConfig: SECRETS })
  const change = { adapterConfig: { ...agent.adapterConfig, model: 'm2' } }
  const { status } = await app.request('PATCH', `/api/agents/${agent.id}`, change)
  assert.equal(status, 200)
  assert.deepEqual(plainConfig(app, agent.id), { ...SECRETS, model: 'm2' })
})

test('a new value replaces a secret, and placeholders keep the others', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { adapterConfig: { env: { A: 'old-a', B: 'old-b' } } })
  const env = { A: '[redacted]', B: 'new-b' }
  await app.make('PATCH', `/api/agents/${agent.id}`, { adapterConfig: { env } })
  assert.deepEqual(plainConfig(app, agent.id), { env: { A: 'old-a', B: 'new-b' } })
})

test('refuses a placeholder without a stored value', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const adapterConfig = { env: { A: '[redacted]' } }
  const created = await app.request('POST', `/api/companies/${companyId}/agents`, { name: 'A', adapterConfig })
  assert.equal(created.status, 400)
  assert.match(created.body.error, /adapterConfig\.env\.A/)
  const agent = await makeAgent(app, companyId)
  assert.equal((await app.request('PATCH', `/api/agents/${agent.id}`, { adapterConfig })).status, 400)
})

test('an agent may read the configurations of its own company only', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  const stranger = await asAgent(app, await makeAgent(app, await makeCompany(app, { name: 'Other' })))
  const own = await asAgent(app, await makeAgent(app, companyId, { name: 'Peer' }))
  assert.equal((await own('GET', `/api/agents/${agent.id}/configuration`)).body.id, agent.id)
  assert.equal((await own('GET', `/api/companies/${companyId}/agent-configurations`)).body.length, 2)
  for (const path of ['configuration', 'config-revisions', 'runtime-state', 'keys']) {
    assert.equal((await stranger('GET', `/api/agents/${agent.id}/${path}`)).status, 404)
  }
  assert.equal((await stranger('GET', `/api/companies/${companyId}/agent-configurations`)).status, 403)
})
