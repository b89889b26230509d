import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createOneTimeLink } from '../../src/access/auth/one-time-link.ts'
import { createCredential } from '../../src/platform/credential.ts'
import { MARKER } from '../../src/runtime/process/process-table.ts'
import { cookieOf, createPeopleApp, PASSWORD } from '../access/auth/people.ts'
import { createTestApp, TEST_KEYS, type TestApp, temporaryFolder } from '../helpers.ts'
import { makeAgent, makeCompany } from '../make.ts'
import { startTestServer } from '../server.ts'
import { searchArguments } from './argv.ts'
import type { Kind } from './canaries.ts'

const SECRET = 'a secret/with+signs="42"?'

/** Runs a nested test and returns its result. */
function innerTest(t: TestContext) {
  const hooks: (() => unknown)[] = []
  const end = async () => {
    for (const hook of hooks.splice(0)) await hook()
  }
  t.after(end)
  return { inner: { after: (hook: () => unknown) => hooks.push(hook) } as unknown as TestContext, end }
}

/** Expects that a test ends with a hit that names the kind and the place. */
async function assertFound(end: () => Promise<void>, kind: Kind, place: string, secret: string) {
  await assert.rejects(end, ({ message }: Error) => {
    assert.ok(message.includes(`${kind} in ${place}`), message)
    assert.ok(!message.includes(secret), 'the message holds the secret')
    return true
  })
}

const FORMS: Record<string, (secret: string) => string> = {
  plain: (secret) => `x${secret}x`,
  JSON: (secret) => JSON.stringify({ secret }),
  'URL-encoded': (secret) => `?x=${encodeURIComponent(secret)}&y=1`,
  hex: (secret) => Buffer.from(secret).toString('hex'),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 of user:secret': (secret) => Buffer.from(`user:${secret}\n`).toString('base64'),
  'base64 of me:secret': (secret) => Buffer.from(`me:${secret}, and more`).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`the search detects a secret in the log of a run: ${name}`, async (t) => {
    const { inner, end } = innerTest(t)
    const app = createTestApp(inner)
    await app.make('POST', `/api/companies/${await makeCompany(app)}/secrets`, { name: 'KEY', value: SECRET })
    const folder = path.join(app.config.dataDir, 'runs', 'r')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'log'), `${'.'.repeat(1_001)}${form(SECRET)}\n`)
    await assertFound(end, 'company secret', 'runs/r/log', SECRET)
  })
}

/** Creates and returns a secret of each kind. */
const MADE: [Kind, string, (app: TestApp, companyId: string) => Promise<string>][] = [
  [
    'agent key',
    'an answer that makes it',
    async (app, companyId) => {
      const { id } = await makeAgent(app, companyId)
      return (await app.make('POST', `/api/agents/${id}/keys`, {})).token
    },
  ],
  [
    'agent key',
    'a credential',
    async (app) => {
      const key = createCredential('svc_')
      await app.as(key)('GET', '/api/companies')
      return key
    },
  ],
  ['run token', 'its making', (app) => app.ctx.tokens.sign({ id: 'r', agentId: 'a', companyId: 'c' })],
  ['key file', 'the start', async () => Buffer.from(TEST_KEYS.secret).toString('hex')],
  [
    'env value',
    "an agent's env",
    async (app, companyId) => {
      await makeAgent(app, companyId, { adapterConfig: { env: { REGION: SECRET } } })
      return SECRET
    },
  ],
  [
    'env value',
    "a project's env that is refused",
    async (app, companyId) => {
      await app.request('POST', `/api/companies/${companyId}/projects`, { title: 'x', env: { A: SECRET } })
      return SECRET
    },
  ],
  [
    'metadata secret',
    "an agent's metadata",
    async (app, companyId) => {
      await makeAgent(app, companyId, { metadata: { deep: [{ apiKey: SECRET }] } })
      return SECRET
    },
  ],
  [
    'company secret',
    'the vault',
    async (app, companyId) => {
      app.ctx.vault.seal({ companyId, name: 'KEY' }, SECRET)
      return SECRET
    },
  ],
  [
    'link token',
    "an outside agent's invite",
    async (app, companyId) => (await app.make('POST', `/api/companies/${companyId}/gateway/invite-prompt`)).token,
  ],
  [
    'claim secret',
    'an acceptance',
    async (app, companyId) => {
      const { token } = await app.make('POST', `/api/companies/${companyId}/gateway/invite-prompt`)
      return (await app.make('POST', `/api/invites/${token}/accept`, { name: 'Nia' })).claimSecret
    },
  ],
]

for (const [kind, how, make] of MADE) {
  test(`the search detects a secret in the log: ${kind} of ${how}`, async (t) => {
    const { inner, end } = innerTest(t)
    const app = createTestApp(inner)
    const secret = await make(app, await makeCompany(app))
    app.ctx.log.warn('Something failed.', { with: secret })
    await assertFound(end, kind, 'the log', secret)
  })
}

test('the search detects credentials of people in the log: password, session, board token, links', async (t) => {
  const { inner, end } = innerTest(t)
  const app = createPeopleApp(inner)
  const setup = createOneTimeLink()
  Object.assign(app.ctx.signIn, { setup })
  const fields = { token: setup.token!, name: 'Olga', email: 'olga@example.com', password: PASSWORD }
  const made = await app.submit('/setup', fields)
  assert.equal(made.status, 303)
  const cookie = cookieOf(made.headers.get('set-cookie'))
  const request = app.with(cookie)
  const { id } = (await request('POST', '/api/companies', { name: 'Acme' })).body
  const { token } = (await request('POST', '/api/board/tokens')).body
  const { url } = (await request('POST', `/api/companies/${id}/invitations`)).body
  const invitation = new URL(url).searchParams.get('token')
  for (const secret of [fields.token, PASSWORD, cookie, token]) app.ctx.log.info(secret)
  app.ctx.events.publish(id, 'invitation', () => invitation)
  await assert.rejects(end, ({ message }: Error) => {
    const places = ['link token', 'password', 'session', 'board token'].map((kind) => `${kind} in the log`)
    for (const hit of [...places, 'link token in the event invitation']) assert.ok(message.includes(hit), message)
    return true
  })
})

test('a secret in a response fails immediately, and one in the database or an export fails at the end', async (t) => {
  const { inner, end } = innerTest(t)
  const app = createTestApp(inner)
  const companyId = await makeCompany(app)
  const at = `/api/companies/${companyId}`
  await app.make('POST', `${at}/secrets`, { name: 'KEY', value: SECRET })
  const leak = app.request('PATCH', at, { description: `Ours, ${SECRET}` })
  await assert.rejects(leak, /company secret in the answer of PATCH/)
  await assert.rejects(end, ({ message }: Error) => {
    for (const place of ['service.db-wal', 'an export'])
      assert.ok(message.includes(`company secret in ${place}`), message)
    return true
  })
})

test('a page can contain the token of its own link, and no other secret', async (t) => {
  const { inner, end } = innerTest(t)
  const app = createTestApp(inner)
  const { token } = await app.make('POST', `/api/companies/${await makeCompany(app)}/gateway/invite-prompt`)
  const { status, body } = await app.request('GET', `/api/invites/${token}/onboarding.txt`)
  assert.equal(status, 200)
  assert.ok(body.includes(token))
  await assert.rejects(app.request('GET', `/api/nowhere/${token}`), /link token in the answer of GET/)
  await assertFound(end, 'link token', 'the answer of GET /api/nowhere/...', token)
})

test('short and simple values are not secrets, and an exception applies only to its kind and place', async (t) => {
  const { inner, end } = innerTest(t)
  const { canaries } = createTestApp(inner)
  canaries.except('password', /^here$/, 'this test puts it there')
  for (const secret of ['1234567', 'xxxxxxxx', '[redacted]', SECRET]) canaries.notice('password', secret)
  canaries.search('anywhere', '1234567 xxxxxxxx [redacted]')
  canaries.search('here', SECRET)
  canaries.assertNoHits()
  canaries.search('elsewhere', SECRET)
  await assertFound(end, 'password', 'elsewhere', SECRET)
})

test('traffic on a real socket is recorded and searched', async (t) => {
  const { inner, end } = innerTest(t)
  const { server } = await startTestServer(inner)
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
    return (await response.json()) as { id: string; token: string }
  }
  const { id } = await post('/api/companies', { name: 'Acme' })
  const agent = await post(`/api/companies/${id}/agents`, { name: 'Nia', adapterConfig: { env: { A: SECRET } } })
  const { token } = await post(`/api/agents/${agent.id}/keys`, {})
  await post(`/api/companies/${id}/issues`, { title: token })
  server.ctx.log.info(SECRET)
  await assert.rejects(end, ({ message }: Error) => {
    const hits = ['env value in the log', 'agent key in the answer of POST', 'agent key in service.db']
    for (const hit of hits) assert.ok(message.includes(hit), message)
    return true
  })
})

test('the folder of a separate server process is searched for its keys and for the secrets that it created', async (t) => {
  const { inner, end } = innerTest(t)
  const folder = temporaryFolder(inner)
  mkdirSync(path.join(folder, 'keys'))
  const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7))
  writeFileSync(path.join(folder, 'keys', 'secret.key'), key)
  writeFileSync(path.join(folder, 'one'), `x${key.toString('base64')}`)
  writeFileSync(path.join(folder, 'two'), `x ${createCredential('svcb_')}.`)
  writeFileSync(path.join(folder, 'three'), `svc_${'x'.repeat(49)}`)
  await assert.rejects(end, ({ message }: Error) => {
    for (const hit of ['key file in one', 'board token in two']) assert.ok(message.includes(hit), message)
    assert.ok(!message.includes('three'), 'what only looks like a key is none')
    return true
  })
})

test('the search detects a secret in the arguments of a process of a run', {
  skip: process.platform !== 'linux' && 'only Linux shows the arguments of processes in /proc',
}, async (t) => {
  const { inner, end } = innerTest(t)
  const { canaries } = createTestApp(inner)
  canaries.notice('company secret', SECRET)
  const runId = randomUUID()
  const program = path.join(import.meta.dirname, '../agents/hang.js')
  const child = spawn(process.execPath, [program, SECRET], { env: { [MARKER]: runId } })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  assert.equal(searchArguments(canaries, runId), 1)
  await assertFound(end, 'company secret', 'the arguments of a process of a run', SECRET)
})
