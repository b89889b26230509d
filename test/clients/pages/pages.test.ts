import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieOf, createPeopleApp, PASSWORD } from '../../access/auth/people.ts'
import { insertAgentRow, insertCompany, insertKey } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

test('the start page names the person, their companies and the next actions', async (t) => {
  const app = createPeopleApp(t)
  const mine = insertCompany(app.ctx, 'Tern & Co')
  insertCompany(app.ctx, 'Puffin')
  const admin = await app.person('Ada', { [mine]: 'admin' })
  const page = (await admin.request('GET', '/')).body
  assert.match(page, /signed in as Ada \(ada@example\.com\)/)
  assert.match(page, /Tern &amp; Co<\/span> <span>admin/)
  assert.ok(!page.includes('Puffin'))
  assert.ok(page.includes(`/api/companies/${mine}/invitations`) && page.includes('company new'))
  const viewer = (await (await app.person('Vera', { [mine]: 'viewer' })).request('GET', '/')).body
  assert.ok(viewer.includes('service status') && !viewer.includes('company new') && !viewer.includes('invitations'))
})

test('a person without a session is redirected to the sign-in, and after it back to the account', async (t) => {
  const app = createPeopleApp(t)
  const { email, request } = await app.person('Ada')
  assert.equal((await app.request('GET', '/')).headers.get('location'), '/login')
  assert.equal((await app.request('GET', '/account')).headers.get('location'), '/login?next=/account')
  for (const path of ['password', 'tokens', 'tokens/revoke', 'sign-out-everywhere']) {
    const sent = await app.submit(`/account/${path}`, {})
    assert.deepEqual([sent.status, sent.headers.get('location')], [303, '/login?next=/account'], path)
  }
  const signedIn = await app.submit('/login', { email, password: PASSWORD, next: '/account' })
  assert.equal(signedIn.headers.get('location'), '/account')
  assert.equal((await request('GET', '/login?next=/account')).headers.get('location'), '/account')
  for (const elsewhere of ['https://evil.example/', '//evil.example', '/\\evil.example', 'account']) {
    const sent = await app.submit('/login', { email, password: PASSWORD, next: elsewhere })
    assert.equal(sent.headers.get('location'), '/', elsewhere)
  }
})

test('a personal token does not give access to the account page', async (t) => {
  const app = createPeopleApp(t)
  const { request } = await app.person('Ada')
  const script = app.as((await request('POST', '/api/board/tokens')).body.token)
  assert.equal((await script('GET', '/account')).status, 303)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  assert.equal((await script('POST', '/account/tokens', 'name=more', headers)).status, 303)
  assert.equal((await request('GET', '/api/board/tokens')).body.length, 1)
})

test('forms create a token, display it once and revoke it', async (t) => {
  const app = createPeopleApp(t)
  const { cookie, request } = await app.person('Ada')
  const nameless = await app.submit('/account/tokens', { name: '' }, cookie)
  assert.equal(nameless.status, 400)
  assert.match(nameless.body, /aria-invalid="true" autofocus>/)
  const wrong = await app.submit('/account/tokens', { name: 'x', expires: 'soon' }, cookie)
  assert.equal(wrong.status, 400)
  assert.match(wrong.body, /Expires on must be a date or empty/)
  const made = await app.submit('/account/tokens', { name: '<b>laptop', expires: '2099-01-31' }, cookie)
  assert.equal(made.status, 200)
  const token = /svcb_[\w-]+/.exec(made.body)?.[0] ?? ''
  assert.ok(token.length > 40, made.body)
  const page = (await request('GET', '/account')).body
  assert.match(page, /not used yet, expires 2099-01-31/)
  assert.ok(page.includes('Revoke &lt;b&gt;laptop') && !page.includes('<b>laptop'))
  const tokenId = /name="tokenId" value="([^"]+)"/.exec(page)![1]!
  const stranger = await app.person('Eve')
  assert.equal((await app.submit('/account/tokens/revoke', { tokenId }, stranger.cookie)).status, 404)
  assert.equal((await app.submit('/account/tokens/revoke', { tokenId }, cookie)).status, 303)
  assert.ok((await request('GET', '/api/board/tokens')).body[0].revokedAt)
  assert.ok(!(await request('GET', '/account')).body.includes('tokenId'))
})

test('the account page lists the browsers in which a person is signed in', async (t) => {
  const app = createPeopleApp(t)
  const { email, cookie, request } = await app.person('Ada')
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': agent }
  const fields = new URLSearchParams({ email, currentPassword: PASSWORD, newPassword: 'another password' })
  const changed = await app.request('POST', '/account/password', String(fields), { ...form, cookie })
  assert.equal(changed.status, 303)
  const own = app.with(cookieOf(changed.headers.get('set-cookie')))
  assert.match(
    (await own('GET', '/account')).body,
    /Firefox on Linux <span class="hint">signed in \d{4}-\d\d-\d\d, ends \d/,
  )
  assert.equal((await request('GET', '/account')).status, 303)
})

test('forms change the password and end all sessions, and errors are next to their field', async (t) => {
  const app = createPeopleApp(t)
  const { email, cookie, request } = await app.person('Ada')
  const change = (currentPassword: string, newPassword: string) =>
    app.submit('/account/password', { email, currentPassword, newPassword }, cookie)
  const wrong = await change('wrong', 'another password')
  assert.equal(wrong.status, 400)
  assert.match(wrong.body, /id="currentPassword-error">Current password is wrong\./)
  assert.match((await change(PASSWORD, 'short')).body, /id="newPassword-error">New password must be at least 10/)
  const changed = await change(PASSWORD, 'another password')
  assert.equal(changed.headers.get('location'), '/account?done=password')
  assert.equal((await request('GET', '/api/auth/session')).status, 401)
  const next = cookieOf(changed.headers.get('set-cookie'))
  assert.match((await app.with(next)('GET', '/account?done=password')).body, /role="status">Your password is changed/)
  const out = await app.submit('/account/sign-out-everywhere', {}, next)
  assert.equal(out.headers.get('location'), '/login')
  assert.equal((await app.with(next)('GET', '/api/auth/session')).status, 401)
})

test('in local mode the start page belongs to the board, and there is no account page', async (t) => {
  const app = createTestApp(t)
  const companyId = insertCompany(app.ctx, 'Tern')
  const page = (await app.request('GET', '/')).body
  assert.ok(page.includes('You have the rights of the board') && page.includes('Tern') && !page.includes('/account'))
  assert.equal((await app.request('GET', '/account')).status, 404)
  const { key } = insertKey(app.ctx, insertAgentRow(app.ctx, { company_id: companyId }))
  assert.ok(!(await app.as(key)('GET', '/')).body.includes('Tern'))
})

test('with --require-token the start page names no company before the link is opened', async (t) => {
  const app = createTestApp(t, { requireToken: true })
  insertCompany(app.ctx, 'Tern')
  const stored = await app.request('GET', '/')
  assert.equal(stored.status, 401)
  assert.match(stored.body, /open the link that the server printed/)
  assert.ok(!stored.body.includes('Tern'))
  const entered = await app.request('GET', `/enter?token=${app.ctx.signIn.local.link!.token}`)
  const cookie = cookieOf(entered.headers.get('set-cookie'))
  assert.ok((await app.request('GET', '/', undefined, { cookie })).body.includes('Tern'))
})
