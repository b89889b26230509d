import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Identity } from '../../../src/access/auth/identity.ts'
import { updatePassword } from '../../../src/access/board/user-queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { cookieOf, createPeopleApp, PASSWORD, type PeopleApp } from './people.ts'

const NEXT = 'staple and battery'

const makeLink = (app: PeopleApp, email: string, key = app.ctx.signIn.resets.key) =>
  app.request('POST', '/api/auth/reset-links', { key, email })

async function tokenFor(app: PeopleApp, email: string): Promise<string> {
  const made = await makeLink(app, email)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return new URL(made.body.url).searchParams.get('token')!
}

const signIn = (app: PeopleApp, email: string, password: string) =>
  app.request('POST', '/api/auth/sign-in', { email, password })

test('a reset link sets a new password once, ends every session of the person and starts a new session', async (t) => {
  const app = createPeopleApp(t)
  const { email, request } = await app.person('Ada')
  const other = await app.person('Bob')
  const token = await tokenFor(app, ' ADA@example.com ')
  const page = await app.request('GET', `/reset?token=${token}`)
  assert.equal(page.status, 200)
  assert.match(page.body, /value="ada@example\.com" required autocomplete="username" readonly/)
  const short = await app.submit('/reset', { token, email, password: 'short' })
  assert.equal(short.status, 400)
  assert.match(short.body, /id="password-error">New password must be at least 10 characters\./)
  const used = await app.submit('/reset', { token, email, password: NEXT })
  assert.equal(used.status, 303)
  const begun = app.with(cookieOf(used.headers.get('set-cookie')))
  assert.equal((await begun('GET', '/api/auth/session')).body.email, email)
  assert.equal((await request('GET', '/api/auth/session')).status, 401)
  assert.equal((await other.request('GET', '/api/auth/session')).status, 200)
  assert.equal((await signIn(app, email, PASSWORD)).status, 401)
  assert.equal((await signIn(app, email, NEXT)).status, 200)
  const again = await app.submit('/reset', { token, email, password: 'a third password' })
  assert.equal(again.status, 404)
  assert.equal(again.headers.get('set-cookie'), null)
  assert.equal((await signIn(app, email, NEXT)).status, 200)
})

test('one of two concurrent uses of a reset link sets the password', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const token = await tokenFor(app, email)
  const tries = await Promise.all(
    ['first password', 'second password'].map((password) => app.submit('/reset', { token, email, password })),
  )
  assert.deepEqual(tries.map(({ status }) => status).sort(), [303, 404])
})

test('a reset link expires after an hour, and a new link replaces it', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const first = await tokenFor(app, email)
  const second = await tokenFor(app, email)
  assert.equal((await app.request('GET', `/reset?token=${first}`)).status, 404)
  app.clock.move(60 * 60 * 1_000 - 1)
  assert.equal((await app.request('GET', `/reset?token=${second}`)).status, 200)
  app.clock.move(1)
  assert.equal((await app.submit('/reset', { token: second, email, password: NEXT })).status, 404)
  assert.equal((await signIn(app, email, PASSWORD)).status, 200)
})

test('only the key in the data directory creates reset links; an owner’s session cannot', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const founder = await app.person('Olga', {}, true)
  assert.equal((await makeLink(app, email, 'wrong')).status, 403)
  assert.equal((await founder.request('POST', '/api/auth/reset-links', { key: '', email })).status, 403)
  const unknown = await makeLink(app, 'eve@example.com')
  assert.equal(unknown.status, 404)
  assert.equal(unknown.body.error, 'There is no account eve@example.com')
})

test('a reset link contains the public name of the server', async (t) => {
  const bases = {
    'https://board.example': { trustProxy: true, allowedHosts: ['board.example'] },
    'http://board.example:3100': { host: '0.0.0.0', allowedHosts: ['board.example'] },
    'http://127.0.0.1:3100': { allowedHosts: ['board.example'] },
  }
  for (const [base, overrides] of Object.entries(bases)) {
    const app = createPeopleApp(t, overrides)
    const { email } = await app.person('Ada')
    const want = { key: app.ctx.signIn.resets.key, email }
    const made = await app.request('POST', '/api/auth/reset-links', want, { host: '127.0.0.1:3100' })
    assert.ok(made.body.url.startsWith(`${base}/reset?token=`), made.body.url)
  }
})

test('attempts to guess keys and reset links are rate-limited', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const token = await tokenFor(app, email)
  for (let i = 0; i < 29; i++) {
    const guess = app.submit('/reset', { token: `wrong${i}`, email, password: NEXT })
    assert.equal((await guess).status, 404)
  }
  const late = await app.submit('/reset', { token, email, password: NEXT })
  assert.equal(late.status, 429)
  assert.ok(Number(late.headers.get('retry-after')) > 0)
  assert.equal((await makeLink(app, email)).headers.get('retry-after'), '900')
})

test('the log records each password reset, and never contains the link', async (t) => {
  const app = createPeopleApp(t)
  const { id, email } = await app.person('Ada')
  const token = await tokenFor(app, email)
  await app.submit('/reset', { token, email, password: NEXT })
  const log = app.logged.join('')
  assert.match(log, new RegExp(`"user":"${id}","msg":"A password-reset link was created\\."`))
  assert.match(log, new RegExp(`"user":"${id}","msg":"A password was reset with a link\\."`))
  const rows = JSON.stringify(app.ctx.db.all(sql.selectFrom('auth_account').selectAll()))
  for (const secret of [token, NEXT, app.ctx.signIn.resets.key])
    assert.ok(!log.includes(secret) && !rows.includes(secret))
})

test('a sign-in with the old password, concurrent with a reset, starts no session', async (t) => {
  const app = createPeopleApp(t)
  const { id, email } = await app.person('Ada')
  const sessions = () => app.ctx.db.all(sql.selectFrom('auth_session').select('id').where('user_id', '=', id)).length
  const before = sessions()
  const identity = app.ctx.signIn.identity!
  const passwordHash = await identity.hashPassword(NEXT)
  const slow: Identity['signIn'] = async (...credentials) => {
    const begun = await identity.signIn(...credentials)
    await app.ctx.write(() => updatePassword(app.ctx.db, { userId: id, passwordHash, at: app.ctx.now }))
    return begun
  }
  Object.assign(app.ctx.signIn, { identity: { ...identity, signIn: slow } })
  const late = await signIn(app, email, PASSWORD)
  // better-auth uses a separate connection: its writes are visible from the next turn of the event loop.
  await nextTurn()
  assert.deepEqual([late.status, late.headers.get('set-cookie'), sessions()], [401, null, before])
})
