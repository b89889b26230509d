import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertCompany, insertIssue } from '../../arrange.ts'
import { cookieOf, createPeopleApp, PASSWORD } from '../auth/people.ts'

/** Creates a company with one person in each role, and a stranger who owns another company. */
async function arrange(t: Parameters<typeof createPeopleApp>[0]) {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const other = insertCompany(app.ctx, 'Other')
  const owner = await app.person('Olga', { [companyId]: 'owner' })
  const admin = await app.person('Adam', { [companyId]: 'admin' })
  const member = await app.person('Mia', { [companyId]: 'member' })
  const viewer = await app.person('Vera', { [companyId]: 'viewer' })
  const stranger = await app.person('Stan', { [other]: 'owner' })
  const actions = async () =>
    (await owner.request('GET', `/api/companies/${companyId}/activity`)).body.map(
      (row: { action: string }) => row.action,
    )
  return { app, companyId, other, owner, admin, member, viewer, stranger, actions, at: `/api/companies/${companyId}` }
}

const tokenOf = (url: string) => new URL(url).searchParams.get('token')!

test('every member of a company lists its members; only owners assign roles and remove other members', async (t) => {
  const { owner, admin, viewer, member, stranger, at, actions } = await arrange(t)
  const people = (await viewer.request('GET', `${at}/members`)).body
  assert.deepEqual(people.map((one: { role: string }) => one.role).sort(), ['admin', 'member', 'owner', 'viewer'])
  assert.equal((await stranger.request('GET', `${at}/members`)).status, 403)
  assert.equal((await admin.request('PATCH', `${at}/members/${viewer.id}`, { role: 'owner' })).status, 403)
  assert.equal((await admin.request('DELETE', `${at}/members/${viewer.id}`)).status, 403)
  assert.equal((await owner.request('PATCH', `${at}/members/${viewer.id}`, { role: 'member' })).body.role, 'member')
  assert.equal((await owner.request('PATCH', `${at}/members/${stranger.id}`, { role: 'member' })).status, 404)
  assert.equal((await owner.request('DELETE', `${at}/members/${member.id}`)).status, 200)
  assert.equal((await member.request('GET', `${at}/members`)).status, 403)
  assert.deepEqual((await member.request('GET', '/api/companies')).body, [])
  assert.deepEqual((await actions()).slice(0, 2), ['company.member_removed', 'company.member_role_changed'])
})

test('every member may leave a company, except the last owner', async (t) => {
  const { owner, admin, viewer, at } = await arrange(t)
  assert.equal((await viewer.request('DELETE', `${at}/members/${viewer.id}`)).status, 200)
  assert.equal((await owner.request('DELETE', `${at}/members/${owner.id}`)).status, 422)
  assert.equal((await owner.request('PATCH', `${at}/members/${owner.id}`, { role: 'admin' })).status, 422)
  await owner.request('PATCH', `${at}/members/${admin.id}`, { role: 'owner' })
  assert.equal((await owner.request('DELETE', `${at}/members/${owner.id}`)).status, 200)
  assert.equal((await admin.request('DELETE', `${at}/members/${admin.id}`)).status, 422)
})

test('an invitation creates one account, once, with the role of the invitation', async (t) => {
  const { app, admin, at, companyId } = await arrange(t)
  const made = await admin.request('POST', `${at}/invitations`, { role: 'viewer' }, { host: 'board.example:3100' })
  assert.equal(made.status, 201)
  assert.match(made.body.url, /^http:\/\/board\.example:3100\/join\?token=/)
  const token = tokenOf(made.body.url)
  const page = await app.request('GET', `/join?token=${token}`)
  assert.equal(page.status, 200)
  assert.match(page.body, /Join Acme/)
  const form = { token, name: 'Nora', email: 'Nora@Example.com', password: PASSWORD }
  const joined = await app.submit('/join', form)
  assert.equal(joined.status, 303, joined.body)
  const nora = app.with(cookieOf(joined.headers.get('set-cookie')))
  assert.deepEqual((await nora('GET', '/api/auth/session')).body.memberships, [{ companyId, role: 'viewer' }])
  assert.equal((await app.request('GET', `/join?token=${token}`)).status, 404)
  assert.equal((await app.submit('/join', { ...form, email: 'more@example.com' })).status, 404)
  const [listed] = (await admin.request('GET', `${at}/invitations`)).body
  assert.equal(listed.status, 'accepted')
  assert.ok(!JSON.stringify(listed).includes(token))
  const rows = JSON.stringify(app.ctx.db.all(sql.selectFrom('invitation').selectAll()))
  assert.ok(!rows.includes(token))
})

test('one of two concurrent uses of an invitation succeeds', async (t) => {
  const { app, admin, at } = await arrange(t)
  const token = tokenOf((await admin.request('POST', `${at}/invitations`)).body.url)
  const join = (name: string) => app.submit('/join', { token, name, email: `${name}@example.com`, password: PASSWORD })
  const responses = await Promise.all([join('one'), join('two')])
  assert.deepEqual(responses.map(({ status }) => status).sort(), [303, 404])
})

test('a person with an account signs in to accept an invitation, which never lowers a role', async (t) => {
  const { app, owner, stranger, admin, at, companyId } = await arrange(t)
  const link = async () => tokenOf((await owner.request('POST', `${at}/invitations`, { role: 'viewer' })).body.url)
  const token = await link()
  const taken = await app.submit('/join', { token, name: 'Stan', email: stranger.email, password: PASSWORD })
  assert.equal(taken.status, 400)
  assert.match(taken.body, /sign in, then open the link again/)
  const page = await stranger.request('GET', `/join?token=${token}`)
  assert.match(page.body, /signed in as Stan/)
  assert.equal((await app.submit('/join', { token }, stranger.cookie)).status, 303)
  assert.equal((await stranger.request('GET', `/api/companies/${companyId}`)).status, 200)
  assert.equal((await app.submit('/join', { token: await link() }, admin.cookie)).status, 303)
  assert.equal((await admin.request('GET', `${at}/invitations`)).status, 200)
})

test('a revoked or expired invitation is 404, and no member invites to a higher role than their own', async (t) => {
  const { app, owner, admin, member, at } = await arrange(t)
  assert.equal((await member.request('POST', `${at}/invitations`)).status, 403)
  assert.equal((await admin.request('POST', `${at}/invitations`, { role: 'owner' })).status, 403)
  assert.equal((await owner.request('POST', `${at}/invitations`, { role: 'owner' })).status, 201)
  const revoked = (await admin.request('POST', `${at}/invitations`)).body
  const expired = (await admin.request('POST', `${at}/invitations`, { expiresInDays: 1 })).body
  await admin.request('DELETE', `${at}/invitations/${revoked.id}`)
  app.clock.move(24 * 60 * 60_000)
  for (const { url } of [revoked, expired]) {
    assert.equal((await app.request('GET', `/join?token=${tokenOf(url)}`)).status, 404)
  }
})

test('the setup link creates the first owner once, who owns the companies created in local mode', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const token = app.ctx.signIn.setup!.token!
  const form = { token, name: 'Olga', email: 'olga@example.com', password: PASSWORD }
  assert.equal((await app.request('GET', '/setup?token=wrong')).status, 404)
  assert.equal((await app.submit('/setup', { ...form, token: 'wrong' })).status, 404)
  const short = await app.submit('/setup', { ...form, password: 'short' })
  assert.equal(short.status, 400)
  assert.match(short.body, /role="alert"/)
  assert.ok(!short.body.includes('value="short"'), 'a password is not sent back')
  assert.equal((await app.request('GET', `/setup?token=${token}`)).status, 200)
  const [one, two] = await Promise.all([app.submit('/setup', form), app.submit('/setup', { ...form, email: 'x@y.zz' })])
  assert.deepEqual([one.status, two.status].sort(), [303, 404])
  const done = one.status === 303 ? one : two
  const request = app.with(cookieOf(done.headers.get('set-cookie')))
  assert.deepEqual((await request('GET', '/api/auth/session')).body.memberships, [{ companyId, role: 'owner' }])
  assert.equal((await app.request('GET', `/setup?token=${token}`)).status, 404)
  const made = await request('POST', '/api/companies', { name: 'Mine' })
  assert.equal(made.status, 201)
  assert.equal((await request('DELETE', `/api/companies/${made.body.id}?confirm=Mine`)).status, 200)
})

test('only an admin or owner of a company may create another company, and becomes its owner', async (t) => {
  const { admin, member, viewer } = await arrange(t)
  assert.equal((await member.request('POST', '/api/companies', { name: 'New' })).status, 403)
  assert.equal((await viewer.request('POST', '/api/companies', { name: 'New' })).status, 403)
  const made = await admin.request('POST', '/api/companies', { name: 'New' })
  assert.equal(made.status, 201)
  const at = `/api/companies/${made.body.id}/members`
  assert.deepEqual(
    (await admin.request('GET', at)).body.map((one: { userId: string; role: string }) => [one.userId, one.role]),
    [[admin.id, 'owner']],
  )
})

test('only the person who set up the server may freeze every company', async (t) => {
  const { app, owner, companyId, actions } = await arrange(t)
  const operator = await app.person('Otto', {}, true)
  assert.equal((await owner.request('POST', '/api/instance/freeze')).status, 403)
  assert.equal((await operator.request('POST', '/api/instance/freeze')).status, 200)
  assert.equal((await actions())[0], 'company.frozen')
  assert.equal((await operator.request('GET', `/api/companies/${companyId}`)).status, 403)
  assert.equal((await operator.request('POST', '/api/instance/thaw')).status, 200)
})

test('an entity is 404 for non-members, and 403 for members without permission to change it', async (t) => {
  const { app, companyId, stranger, viewer, member } = await arrange(t)
  const issue = insertIssue(app.ctx, { company_id: companyId })
  const path = `/api/issues/${issue.id}`
  assert.equal((await stranger.request('GET', path)).status, 404)
  assert.equal((await stranger.request('PATCH', path, { title: 'x' })).status, 404)
  const refused = await viewer.request('PATCH', path, { title: 'x' })
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error, 'You are a viewer of this company; this requires the role member or higher.')
  assert.equal((await viewer.request('GET', path)).status, 200)
  assert.equal((await member.request('PATCH', path, { title: 'x' })).body.title, 'x')
})

test('a member may edit projects, but not settings that run programs on the machine', async (t) => {
  const { member, admin, at } = await arrange(t)
  const project = (await member.request('POST', `${at}/projects`, { name: 'Map' })).body
  const path = `/api/projects/${project.id}`
  assert.equal((await member.request('PATCH', path, { env: { PATH: '/tmp' } })).status, 403)
  assert.equal((await member.request('POST', `${at}/projects`, { name: 'x', workspace: { cwd: '/tmp' } })).status, 403)
  assert.equal((await member.request('POST', `${path}/workspaces`, { cwd: '/tmp' })).status, 403)
  assert.equal((await admin.request('PATCH', path, { env: { PATH: '/tmp' } })).status, 200)
})

test('local trusted mode has no user accounts and no sign-in', async (t) => {
  const app = createPeopleApp(t, { mode: 'local_trusted' })
  const companyId = insertCompany(app.ctx)
  assert.deepEqual((await app.request('GET', `/api/companies/${companyId}/members`)).body, [])
  assert.equal((await app.request('POST', `/api/companies/${companyId}/invitations`)).status, 403)
  assert.equal((await app.request('POST', '/api/board/tokens')).status, 403)
  assert.equal((await app.request('GET', '/api/auth/session')).body.userId, 'local-board')
})

test('a sign-in always redirects to this server', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const to = async (next: string) =>
    (await app.submit('/login', { email, password: PASSWORD, next })).headers.get('location')
  assert.equal(await to('/join?token=x'), '/join?token=x')
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '']) {
    assert.equal(await to(next), '/', next)
  }
})

test('the pages escape all values, run no scripts and refuse framing', async (t) => {
  const { app, owner, companyId, at } = await arrange(t)
  app.ctx.db.run(sql.updateTable('company').set({ name: '<script>alert(1)</script>' }).where('id', '=', companyId))
  const token = tokenOf((await owner.request('POST', `${at}/invitations`)).body.url)
  const { body, headers } = await app.request('GET', `/join?token=${token}`)
  assert.ok(!body.includes('<script'))
  const csp = headers.get('content-security-policy')!
  assert.match(csp, /^default-src 'none'; style-src 'sha256-/)
  assert.match(csp, /frame-ancestors 'none'/)
  const login = await app.submit('/login', { email: '"><img src=x>', password: 'x', next: '"><img src=x>' })
  assert.equal(login.status, 401)
  assert.ok(!login.body.includes('<img'))
  const json = { 'content-type': 'application/json' }
  assert.equal((await app.request('POST', '/login', '{}', json)).status, 415)
})
