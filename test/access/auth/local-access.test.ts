import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieNames } from '../../../src/access/auth/cookies.ts'
import { createVault } from '../../../src/platform/vault.ts'
import { insertAgentRow, insertCompany, insertKey } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { cookieOf } from './people.ts'

test('with --require-token only the browser that opened the link has board access, and the link works once', async (t) => {
  const app = createTestApp(t, { requireToken: true })
  assert.equal((await app.request('GET', '/api/companies')).status, 401)
  assert.equal((await app.request('GET', '/api/health')).status, 200)
  assert.equal((await app.request('GET', '/enter?token=wrong')).status, 404)
  const token = app.ctx.signIn.local.link!.token!
  assert.equal((await app.request('HEAD', `/enter?token=${token}`)).status, 405, 'checking a link does not use it up')
  const entered = await app.request('GET', `/enter?token=${token}`)
  assert.equal(entered.status, 303)
  assert.equal(entered.headers.get('location'), '/')
  assert.match(entered.headers.get('set-cookie')!, /HttpOnly; SameSite=Lax/)
  const cookie = cookieOf(entered.headers.get('set-cookie'))
  assert.ok(!cookie.includes(token))
  assert.equal(
    (await app.request('POST', '/api/companies', { name: 'Acme' }, { cookie: `a=b; ${cookie}` })).status,
    201,
  )
  assert.equal((await app.request('GET', `/enter?token=${token}`)).status, 404)
  const { cookies } = app.ctx.signIn
  for (const bad of [`${cookies.local}=`, `${cookies.local}=${token}`, `x${cookie}`, `${cookie}x`]) {
    assert.equal((await app.request('GET', '/api/companies', undefined, { cookie: bad })).status, 401, bad)
  }
})

test('with --require-token an agent still authenticates with its key', async (t) => {
  const app = createTestApp(t, { requireToken: true })
  const companyId = insertCompany(app.ctx)
  const { key } = insertKey(app.ctx, insertAgentRow(app.ctx, { company_id: companyId }))
  assert.equal((await app.as(key)('GET', '/api/agents/me')).status, 200)
})

test('without --require-token every local client has board access, and there is no link', async (t) => {
  const app = createTestApp(t)
  assert.equal(app.ctx.signIn.local.link, undefined)
  assert.equal((await app.request('GET', '/api/companies')).status, 200)
  assert.equal((await app.request('GET', '/enter?token=')).status, 404)
  assert.equal((await app.request('GET', '/login')).status, 404)
})

test('the cookie is not accepted as a bearer key, and the bearer key not as a cookie', async (t) => {
  const app = createTestApp(t, { requireToken: true })
  const { link, key } = app.ctx.signIn.local
  const entered = await app.request('GET', `/enter?token=${link!.token!}`)
  const [name, value] = cookieOf(entered.headers.get('set-cookie')).split('=') as [string, string]
  assert.equal((await app.as(key!)('GET', '/api/companies')).status, 200)
  assert.equal((await app.as(value)('GET', '/api/companies')).status, 401)
  assert.equal((await app.request('GET', '/api/companies', undefined, { cookie: `${name}=${key}` })).status, 401)
})

test('two servers on one machine use different cookie names, and the name of each is stable', () => {
  const vault = (n: number) => createVault(new Uint8Array(32).fill(n))
  const names = cookieNames({ trustProxy: false }, vault(1))
  assert.deepEqual(names, cookieNames({ trustProxy: false }, vault(1)))
  assert.notDeepEqual(names, cookieNames({ trustProxy: false }, vault(2)))
  assert.match(cookieNames({ trustProxy: true }, vault(1)).session, /^__Host-/)
})
