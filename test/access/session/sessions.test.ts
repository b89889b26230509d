import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertCompany } from '../../arrange.ts'
import { cookieOf, createPeopleApp, PASSWORD } from '../auth/people.ts'

test('a sign-in returns a cookie that authenticates the person until sign-out', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const { id, email } = await app.person('Ada', { [companyId]: 'owner' })
  const signedIn = await app.request('POST', '/api/auth/sign-in', { email: ' ADA@example.com ', password: PASSWORD })
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
  const setCookie = signedIn.headers.get('set-cookie')!
  assert.match(setCookie, /HttpOnly/)
  assert.match(setCookie, /SameSite=Lax/)
  const request = app.with(cookieOf(setCookie))
  assert.deepEqual((await request('GET', '/api/auth/session')).body, {
    userId: id,
    name: 'Ada',
    email,
    memberships: [{ companyId, role: 'owner' }],
    isOperator: false,
  })
  const signedOut = await request('POST', '/api/auth/sign-out')
  assert.equal(signedOut.status, 200)
  assert.equal(signedOut.headers.get('clear-site-data'), '"cache"', 'the browser has pages with data of the person')
  assert.equal((await request('GET', '/api/auth/session')).status, 401)
})

test('a wrong password and an unknown e-mail have the same response', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const wrong = await app.request('POST', '/api/auth/sign-in', { email, password: `${PASSWORD}!` })
  const unknown = await app.request('POST', '/api/auth/sign-in', { email: 'eve@example.com', password: PASSWORD })
  const odd = await app.request('POST', '/api/auth/sign-in', { email: 'no address', password: '' })
  for (const { status, body, headers } of [wrong, unknown, odd]) {
    assert.equal(status, 401)
    assert.equal(body.error, 'The e-mail address or the password is wrong.')
    assert.equal(headers.get('set-cookie'), null)
  }
})

test('a second sign-in ends the previous session of the browser', async (t) => {
  const app = createPeopleApp(t)
  const { email, cookie, request } = await app.person('Ada')
  const again = await app.request('POST', '/api/auth/sign-in', { email, password: PASSWORD }, { cookie })
  const next = cookieOf(again.headers.get('set-cookie'))
  assert.notEqual(next, cookie)
  assert.equal((await request('GET', '/api/auth/session')).status, 401)
  assert.equal((await app.with(next)('GET', '/api/auth/session')).status, 200)
})

test('signing out everywhere ends every session of the person, and no session of others', async (t) => {
  const app = createPeopleApp(t)
  const { email, request } = await app.person('Ada')
  const other = await app.person('Bob')
  const second = await app.request('POST', '/api/auth/sign-in', { email, password: PASSWORD })
  const elsewhere = app.with(cookieOf(second.headers.get('set-cookie')))
  assert.equal((await elsewhere('POST', '/api/auth/sign-out-everywhere')).status, 200)
  assert.equal((await request('GET', '/api/auth/session')).status, 401)
  assert.equal((await elsewhere('GET', '/api/auth/session')).status, 401)
  assert.equal((await other.request('GET', '/api/auth/session')).status, 200)
})

test('a password change ends the other sessions and invalidates the old password', async (t) => {
  const app = createPeopleApp(t)
  const { email, request, cookie } = await app.person('Ada')
  const second = await app.request('POST', '/api/auth/sign-in', { email, password: PASSWORD })
  const elsewhere = app.with(cookieOf(second.headers.get('set-cookie')))
  const path = '/api/auth/change-password'
  assert.equal((await request('POST', path, { currentPassword: 'wrong', newPassword: 'another password' })).status, 400)
  assert.equal((await request('POST', path, { currentPassword: PASSWORD, newPassword: 'short' })).status, 400)
  assert.equal((await request('POST', path, { currentPassword: PASSWORD, newPassword: 'é'.repeat(40) })).status, 400)
  const changed = await request('POST', path, { currentPassword: PASSWORD, newPassword: 'another password' })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  const next = cookieOf(changed.headers.get('set-cookie'))
  assert.notEqual(next, cookie)
  assert.equal((await app.with(next)('GET', '/api/auth/session')).status, 200)
  assert.equal((await elsewhere('GET', '/api/auth/session')).status, 401)
  assert.equal((await app.request('POST', '/api/auth/sign-in', { email, password: PASSWORD })).status, 401)
})

test('a session that is expired, revoked, forged or without a user is 401', async (t) => {
  const app = createPeopleApp(t)
  const { request, cookie } = await app.person('Ada')
  const [name, value] = [cookie.split('=')[0]!, cookie.slice(cookie.indexOf('=') + 1)]
  const token = decodeURIComponent(value).split('.')[0]!
  app.canaries.except('session', /^service\.db/, 'the part before the signature, alone, is what the database keeps')
  const forged = [
    `${name}=${token}`,
    `${name}=${token}.x`,
    `${name}=`,
    `${name}=a.b`,
    `${name}=${encodeURIComponent(`${decodeURIComponent(value).slice(0, -5)}AAAA=`)}`,
  ]
  for (const bad of forged) assert.equal((await app.with(bad)('GET', '/api/companies')).status, 401, bad)
  assert.equal((await app.with(`x=1; ${cookie}`)('GET', '/api/companies')).status, 200)
  app.ctx.db.run(sql.updateTable('auth_session').set({ expires_at: '2020-01-01T00:00:00.000Z' }))
  assert.equal((await request('GET', '/api/companies')).status, 401)
})

test('an invalid bearer token is 401 even with a valid cookie', async (t) => {
  const app = createPeopleApp(t)
  const { request } = await app.person('Ada')
  assert.equal((await request('GET', '/api/companies', undefined, { authorization: 'Bearer svcb_wrong' })).status, 401)
})

test('sign-in attempts are rate-limited with Retry-After, including those with the right password', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const guess = (password: string) => app.request('POST', '/api/auth/sign-in', { email, password })
  for (let i = 0; i < 10; i++) assert.equal((await guess('wrong')).status, 401)
  const refused = await guess(PASSWORD)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '900')
  app.clock.move(899_000)
  assert.equal((await guess(PASSWORD)).headers.get('retry-after'), '1')
  app.clock.move(1_000)
  assert.equal((await guess(PASSWORD)).status, 200)
})

test('a personal token authenticates its owner, is listed by its prefix, and is 401 after revocation', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const { request } = await app.person('Ada', { [companyId]: 'admin' })
  const made = await request('POST', '/api/board/tokens', { name: 'backup' })
  assert.equal(made.status, 201)
  const { id, token } = made.body
  assert.match(token, /^svcb_/)
  const script = app.as(token)
  assert.equal((await script('GET', `/api/companies/${companyId}`)).status, 200)
  const [listed] = (await request('GET', '/api/board/tokens')).body
  assert.equal(listed.prefix, token.slice(0, 11))
  assert.ok(!JSON.stringify(listed).includes(token))
  assert.equal((await script('POST', '/api/board/tokens')).status, 403)
  assert.equal(
    (await script('POST', '/api/auth/change-password', { currentPassword: PASSWORD, newPassword: 'n' })).status,
    403,
  )
  const stranger = await app.person('Eve')
  assert.equal((await stranger.request('DELETE', `/api/board/tokens/${id}`)).status, 404)
  assert.equal((await request('DELETE', `/api/board/tokens/${id}`)).status, 200)
  assert.equal((await script('GET', '/api/companies')).status, 401)
})

test('token creation is rate-limited', async (t) => {
  const app = createPeopleApp(t)
  const { request } = await app.person('Ada')
  for (let i = 0; i < 20; i++) assert.equal((await request('POST', '/api/board/tokens')).status, 201)
  const refused = await request('POST', '/api/board/tokens')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '3600')
})

test('a cookie opens the event stream of a company until the session or the membership ends', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const api = createApp(app.ctx, app.ctx.tokens)
  const watch = async (cookie: string) => {
    const response = await api.request(`/api/companies/${companyId}/events`, { headers: { cookie } })
    assert.equal(response.status, 200)
    const reader = response.body!.getReader()
    await reader.read()
    return async () => {
      const next = reader.read()
      t.mock.timers.tick(15_000)
      return (await next).done
    }
  }
  const leaver = await app.person('Lea', { [companyId]: 'viewer' })
  const lea = await watch(leaver.cookie)
  assert.equal(await lea(), false)
  app.ctx.db.run(sql.deleteFrom('membership').where('user_id', '=', leaver.id))
  assert.equal(await lea(), true)
  const goer = await app.person('Gus', { [companyId]: 'viewer' })
  const gus = await watch(goer.cookie)
  assert.equal(await gus(), false)
  await goer.request('POST', '/api/auth/sign-out')
  assert.equal(await gus(), true)
})

test('an event stream ends within a second after its person signs out everywhere', { timeout: 20_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const { cookie } = await app.person('Kit', { [companyId]: 'viewer' })
  const api = createApp(app.ctx, app.ctx.tokens)
  const response = await api.request(`/api/companies/${companyId}/events`, { headers: { cookie } })
  const reader = response.body!.getReader()
  await reader.read()
  assert.equal((await app.with(cookie)('POST', '/api/auth/sign-out-everywhere')).status, 200)
  const next = reader.read()
  t.mock.timers.tick(1_000)
  assert.equal((await next).done, true)
})
