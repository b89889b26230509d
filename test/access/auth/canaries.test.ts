import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { insertAgentRow, insertRun } from '../../arrange.ts'
import { cookieOf, createPeopleApp } from './people.ts'

/** The encodings in which a secret could leak. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
]

test('no secret is in the data directory, in a log, or in any response except the one that creates it', async (t) => {
  const app = createPeopleApp(t)
  const password = 'canary-of/the password+1'
  const setup = app.ctx.signIn.setup!.token!
  const form = { name: 'Olga', email: 'olga@example.com', password }
  const session = cookieOf((await app.submit('/setup', { token: setup, ...form })).headers.get('set-cookie'))
  const responses: string[] = []
  const request = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await app.with(session)(method, path, body, headers)
    responses.push(JSON.stringify(response.body))
    return response
  }
  /** Creates a secret. Only this response may contain it. */
  const createSecret = async (path: string, body: object = {}) => {
    const response = await request('POST', path, body, { 'idempotency-key': path })
    assert.equal(response.status, 201, JSON.stringify(response.body))
    responses.pop()
    assert.equal((await request('POST', path, body, { 'idempotency-key': path })).status, 409)
    return response.body
  }
  const company = (await request('POST', '/api/companies', { name: 'Acme' })).body
  const at = `/api/companies/${company.id}`
  const agentId = insertAgentRow(app.ctx, { company_id: company.id }).id
  const key = (await createSecret(`/api/agents/${agentId}/keys`)).token
  const token = (await createSecret('/api/board/tokens')).token
  const invitation = new URL((await createSecret(`${at}/invitations`)).url).searchParams.get('token')!
  const secret = 'canary-of/the secret+2'
  const stored = await request('POST', `${at}/secrets`, { name: 'KEY', value: secret })
  await request('POST', `/api/secrets/${stored.body.id}/rotate`, { value: `${secret}, rotated` })
  const { id: runId } = await insertRun(app, { id: agentId })
  const runToken = await app.ctx.tokens.sign({ id: runId, agentId, companyId: company.id })
  await app.as(runToken)('GET', '/api/agents/me')
  await app.as(key)('GET', '/api/agents/me')
  await app.as(token)('GET', '/api/companies')
  const next = 'canary-of/the next password+3'
  await request('POST', '/api/auth/sign-in', { email: form.email, password: 'canary-of/a wrong password+4' })
  for (const endpoint of ['activity', 'members', 'invitations', 'secrets', 'agents'])
    await request('GET', `${at}/${endpoint}`)
  await request('GET', '/api/board/tokens')
  await request('GET', '/api/auth/session')
  await request('GET', `/api/agents/${agentId}/keys`)
  const changed = await request('POST', '/api/auth/change-password', { currentPassword: password, newPassword: next })
  assert.equal(changed.status, 200)

  const canaries = {
    password,
    next,
    wrong: 'canary-of/a wrong password+4',
    setup,
    session: decodeURIComponent(session.slice(session.indexOf('=') + 1)),
    key,
    token,
    invitation,
    secret,
    runToken,
  }
  const files = readdirSync(app.config.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  assert.ok(files.some((file) => file.endsWith('service.db-wal')))
  const places = {
    answers: responses.join('\n'),
    log: app.logged.join('\n'),
    ...Object.fromEntries(files.map((file) => [path.basename(file), readFileSync(file, 'latin1')])),
  }
  assert.ok(
    places['service.db-wal' as keyof typeof places].includes('olga@example.com'),
    'the search finds what is there',
  )
  for (const [place, content] of Object.entries(places)) {
    for (const [name, value] of Object.entries(canaries)) {
      for (const form of formsOf(value)) assert.ok(!content.includes(form), `${name} in ${place}`)
    }
  }
})
