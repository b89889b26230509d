import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteMembership } from '../../../src/access/board/membership-queries.ts'
import { createPeopleApp } from '../../access/auth/people.ts'
import { insertCompany } from '../../arrange.ts'
import { repositoryZip, skillText } from '../../organization/skill/arrange.ts'
import { countRows, inline } from '../fixtures.ts'

const FILES = { 'COMPANY.md': '---\nname: Otter\n---\n', 'agents/ceo/AGENTS.md': '---\nname: CEO\n---\nLead.\n' }
const TO_NEW = { source: inline(FILES), target: { mode: 'new_company' } }
const TO_OLD = { source: inline(FILES), target: { mode: 'existing_company' } }

test('a new company that is imported from a company gets its members, and the importer is an owner', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const owner = await app.person('Olga', { [companyId]: 'owner' })
  const admin = await app.person('Adam', { [companyId]: 'admin' })
  const viewer = await app.person('Vera', { [companyId]: 'viewer' })
  const { status, body } = await admin.request('POST', `/api/companies/${companyId}/imports/apply`, TO_NEW)
  assert.equal(status, 201)
  const people = (await viewer.request('GET', `/api/companies/${body.target.companyId}/members`)).body
  const roles = Object.fromEntries(people.map((one: { userId: string; role: string }) => [one.userId, one.role]))
  assert.deepEqual(roles, { [owner.id]: 'owner', [admin.id]: 'owner', [viewer.id]: 'viewer' })
})

test('only admins can import and export, and importing a new company requires permission to create companies', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const other = insertCompany(app.ctx, 'Other')
  const admin = await app.person('Adam', { [companyId]: 'admin' })
  const member = await app.person('Mia', { [companyId]: 'member' })
  const viewer = await app.person('Vera', { [companyId]: 'viewer' })
  for (const { request } of [member, viewer]) {
    assert.equal((await request('POST', `/api/companies/${companyId}/imports/apply`, TO_OLD)).status, 403)
    assert.equal((await request('POST', `/api/companies/${companyId}/exports`, {})).status, 403)
    for (const what of ['preview', 'apply']) {
      assert.equal((await request('POST', `/api/companies/import/${what}`, TO_NEW)).status, 403)
      const into = { ...TO_OLD, target: { mode: 'existing_company', companyId } }
      assert.equal((await request('POST', `/api/companies/import/${what}`, into)).status, 403)
    }
  }
  const foreign = { ...TO_OLD, target: { mode: 'existing_company', companyId: other } }
  assert.equal((await admin.request('POST', '/api/companies/import/apply', foreign)).status, 403)
  assert.equal((await admin.request('POST', '/api/companies/import/apply', TO_NEW)).status, 201)
  assert.equal((await admin.request('POST', `/api/companies/${companyId}/exports`, {})).status, 200)
})

test('a member who loses the role during the fetch of an import gets 403, and nothing is written', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const archive = Buffer.from(repositoryZip({ ...FILES, 'skills/tides/SKILL.md': skillText('tides') }))
  const source = { type: 'github', url: 'https://github.com/a/b' }
  const imports: [string, Record<string, unknown>][] = [
    [`/api/companies/${companyId}/imports/apply`, { ...TO_OLD, source }],
    [`/api/companies/${companyId}/imports/apply`, { ...TO_NEW, source }],
    ['/api/companies/import/apply', { source, target: { mode: 'existing_company', companyId } }],
    ['/api/companies/import/apply', { ...TO_NEW, source }],
    [`/api/companies/${companyId}/skills/import`, { source }],
  ]
  let loseRole: () => Promise<unknown> = async () => {}
  t.mock.method(globalThis, 'fetch', async () => {
    await loseRole()
    return new Response(archive)
  })
  for (const [n, [path, body]] of imports.entries()) {
    const admin = await app.person(`Adam${n}`, { [companyId]: 'admin' })
    const before = countRows(app)
    loseRole = () => app.ctx.write(() => deleteMembership(app.ctx.db, { companyId, userId: admin.id }))
    assert.equal((await admin.request('POST', path, body)).status, 403, path)
    assert.deepEqual(countRows(app), before)
  }
})
