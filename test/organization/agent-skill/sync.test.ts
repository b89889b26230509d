import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { refreshBundledSkills } from '../../../src/organization/skill/bundled.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent, insertRunRow } from '../../arrange.ts'
import { createTestApp, type TestApp, temporaryFolder } from '../../helpers.ts'
import { actions, makeAgent, makeCompany } from '../../make.ts'
import { createTestRuns } from '../../runs.ts'
import { importFiles, repositoryZip, skillText } from '../skill/arrange.ts'

test('desired skills may be given by id, key or slug, and are stored as keys', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await arrangeSkills(t, app)
  const desiredSkills = [ids['tern/skills/ink']!, 'MAPS', 'tern/skills/sums', 'sums', 'heartbeat']
  const want = ['tern/skills/ink', 'maps', 'tern/skills/sums', 'service/heartbeat']
  const agent = await makeAgent(app, companyId, { desiredSkills })
  assert.deepEqual(agent.desiredSkills, want)
  const hired = await app.make('POST', `/api/companies/${companyId}/agent-hires`, { name: 'Bo', desiredSkills })
  assert.deepEqual(hired.agent.desiredSkills, want)
  const changed = await app.make('PATCH', `/api/agents/${agent.id}`, { desiredSkills: ['ink'] })
  assert.deepEqual(changed.desiredSkills, ['ink'], 'a key is taken before a slug')
  const skill = await app.make('GET', `/api/skills/${ids.ink}`)
  assert.deepEqual(skill.usedByAgents, [{ id: agent.id, name: 'Ann' }])
})

test('refuses an unknown or ambiguous skill, and lists the candidates', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await arrangeSkills(t, app)
  await app.make('DELETE', `/api/skills/${ids.ink}`)
  await importRepository(t, app, companyId, 'other/skills', ['ink'])
  const otherCompany = await makeCompany(app)
  const { imported } = await importFiles(app, otherCompany, { 'SKILL.md': skillText('foreign') })
  const desiredSkills = ['maps', 'ink', 'nothing', imported[0].id]
  const agent = await makeAgent(app, companyId)
  for (const [method, url] of [
    ['POST', `/api/companies/${companyId}/agents`],
    ['POST', `/api/companies/${companyId}/agent-hires`],
    ['PATCH', `/api/agents/${agent.id}`],
    ['POST', `/api/agents/${agent.id}/skills/sync`],
  ] as const) {
    const body = { ...(url.includes('companies') && { name: 'Bo' }), desiredSkills }
    const response = await app.request(method, url, body)
    assert.equal(response.status, 422, url)
    assert.match(response.body.error, /"ink" is the slug of several skills.*"nothing"/)
    assert.deepEqual(
      response.body.details.fields.map((field: { path: string; candidates: string[] }) => [
        field.path,
        field.candidates,
      ]),
      [
        ['desiredSkills.1', ['other/skills/ink', 'tern/skills/ink']],
        ['desiredSkills.2', []],
        ['desiredSkills.3', []],
      ],
    )
  }
  assert.equal((await app.make('GET', `/api/companies/${companyId}/agents`)).length, 1)
})

test('a sync writes exactly the desired skills and returns the installed ones', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps', 'sums'] })
  const first = await sync(app, agent)
  assert.ok(first.changed)
  assert.deepEqual(filesIn(first.directory), [
    '.claude-plugin/plugin.json',
    'heartbeat/SKILL.md',
    'maps/SKILL.md',
    'maps/run.sh',
    'sums/SKILL.md',
  ])
  assert.deepEqual(
    first.skills.map((skill: { key: string; required: boolean; files: string[] }) => [
      skill.key,
      skill.required,
      skill.files.length,
    ]),
    [
      ['maps', false, 2],
      ['service/heartbeat', true, 1],
      ['tern/skills/sums', false, 1],
    ],
  )
  for (const skill of first.skills) {
    for (const file of skill.files) assert.ok(existsSync(path.join(skill.path, file)))
  }
  const modeOf = (file: string) => statSync(path.join(first.directory, file)).mode & 0o777
  assert.deepEqual([modeOf('maps/run.sh'), modeOf('maps/SKILL.md'), modeOf('.')], [0o700, 0o600, 0o700])
  assert.equal((await sync(app, agent)).changed, false)
  const second = await sync(app, agent, { desiredSkills: ['ink'] })
  assert.deepEqual(second.desiredSkills, ['ink'])
  assert.deepEqual(filesIn(second.directory), ['.claude-plugin/plugin.json', 'heartbeat/SKILL.md', 'ink/SKILL.md'])
  assert.ok(!existsSync(first.directory), 'what is no longer desired is gone')
  assert.deepEqual((await actions(app, companyId)).slice(-2), ['agent.skills_changed', 'agent.skills_synced'])
})

test('two skills with the same slug have separate folders', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['ink', 'tern/skills/ink'] })
  const { directory } = await sync(app, agent)
  assert.deepEqual(readdirSync(directory).sort(), ['.claude-plugin', 'heartbeat', 'ink', 'tern--skills--ink'])
})

test('a sync rebuilds a modified folder and follows no link in it', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps'] })
  const { directory } = await sync(app, agent)
  const whole = snapshot(directory)
  const outside = temporaryFolder(t)
  writeFileSync(path.join(outside, 'SKILL.md'), 'mine')
  const replace = (target: string, by: string) => {
    rmSync(target, { recursive: true })
    symlinkSync(by, target)
  }
  const tampering: Record<string, () => void> = {
    'a changed file': () => writeFileSync(path.join(directory, 'maps/SKILL.md'), 'evil'),
    'a change of the same length': () => {
      const text = readFileSync(path.join(directory, 'maps/SKILL.md'), 'utf8')
      writeFileSync(path.join(directory, 'maps/SKILL.md'), text.replace('maps', 'spam'))
    },
    'a file too many': () => writeFileSync(path.join(directory, 'maps/more.md'), 'x'),
    'a folder too many': () => mkdirSync(path.join(directory, 'more')),
    'a file that is missing': () => rmSync(path.join(directory, 'maps/run.sh')),
    'a file that is a link': () => replace(path.join(directory, 'maps/SKILL.md'), path.join(outside, 'SKILL.md')),
    'a skill that is a link': () => replace(path.join(directory, 'maps'), outside),
    'the folder as a link': () => replace(directory, outside),
    'the folder as a file': () => {
      rmSync(directory, { recursive: true })
      writeFileSync(directory, 'x')
    },
    "the agent's folder as a link": () => replace(path.dirname(directory), outside),
    "the company's folder as a link": () => replace(path.dirname(path.dirname(directory)), outside),
  }
  for (const [what, tamper] of Object.entries(tampering)) {
    tamper()
    const response = await sync(app, agent)
    assert.equal(response.changed, true, what)
    assert.deepEqual(snapshot(directory), whole, what)
    assert.deepEqual(snapshot(outside), { 'SKILL.md': 'mine' }, what)
  }
})

test('concurrent syncs have the same result as one, and leave no other files', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps'] })
  const responses = await Promise.all(Array.from({ length: 8 }, () => sync(app, agent)))
  const [directory, ...others] = new Set(responses.map((response) => response.directory))
  assert.deepEqual(others, [])
  assert.deepEqual(filesIn(directory!), [
    '.claude-plugin/plugin.json',
    'heartbeat/SKILL.md',
    'maps/SKILL.md',
    'maps/run.sh',
  ])
  assert.deepEqual(readdirSync(path.dirname(directory!)), [path.basename(directory!)])
})

test('an agent may sync its skills; only its managers and the board may choose them', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const lead = await makeAgent(app, companyId, { name: 'Lead' })
  const agent = await makeAgent(app, companyId, { reportsTo: lead.id, desiredSkills: ['maps', 'sums'] })
  const peer = await makeAgent(app, companyId, { name: 'Peer' })
  const stranger = await makeAgent(app, await makeCompany(app))
  const url = `/api/agents/${agent.id}/skills/sync`
  const itself = await asAgent(app, agent)
  assert.equal((await itself('POST', url)).status, 200)
  assert.equal((await itself('POST', url, { desiredSkills: ['sums', 'maps'] })).status, 200)
  assert.equal((await itself('POST', url, { desiredSkills: ['sums'] })).status, 403)
  assert.equal((await (await asAgent(app, peer))('POST', url)).status, 403)
  assert.equal((await (await asAgent(app, stranger))('POST', url)).status, 404)
  const byLead = await (await asAgent(app, lead))('POST', url, { desiredSkills: ['sums'] })
  assert.deepEqual([byLead.status, byLead.body.desiredSkills], [200, ['tern/skills/sums']])
  await app.make('POST', `/api/agents/${agent.id}/terminate`)
  assert.equal((await app.request('POST', url)).status, 422)
})

test('deleting a skill removes it from its agents', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps', 'ink'] })
  await app.make('DELETE', `/api/skills/${ids.maps}`)
  assert.deepEqual((await app.make('GET', `/api/agents/${agent.id}`)).desiredSkills, ['ink'])
  assert.equal((await app.request('GET', `/api/skills/${ids.maps}`)).status, 404)
  assert.deepEqual((await actions(app, companyId)).slice(-2), ['agent.skills_changed', 'skill.deleted'])
})

test('deleting a company deletes the files and rows of its skills', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  await sync(app, await makeAgent(app, companyId, { desiredSkills: ['maps'] }))
  await app.make('DELETE', `/api/companies/${companyId}`, { confirm: 'Acme' })
  assert.deepEqual(readdirSync(path.join(app.config.dataDir, 'skills')), [])
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('skill').select('id')), [])
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('skill_file').select('path')), [])
})

test('a new service version updates the heartbeat skill of every company', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const [before] = await app.make('GET', `/api/companies/${companyId}/skills`)
  app.ctx.db.run(sql.updateTable('skill').set({ digest: 'older' }))
  app.ctx.db.run(sql.updateTable('skill_file').set({ content: Buffer.from('older') }))
  app.clock.move(1_000)
  await refreshBundledSkills(app.ctx)
  const [after] = await app.make('GET', `/api/companies/${companyId}/skills`)
  assert.deepEqual({ ...after, updatedAt: before.updatedAt }, before)
  assert.match((await app.make('GET', `/api/skills/${after.id}/files`)).content, /# The heartbeat/)
})

test('a run has the skills that its agent has at the start', async (t) => {
  const app = await createTestRuns(t)
  await importFiles(app, app.companyId, { 'SKILL.md': skillText('maps'), 'a.md': 'one' })
  const agentId = await app.agentThat('echo-env.js')
  await app.make('PATCH', `/api/agents/${agentId}`, { desiredSkills: ['maps'] })
  const seen = async () => {
    await app.make('POST', `/api/agents/${agentId}/heartbeat/invoke`)
    await app.runUntilIdle()
    const run = (await app.runs()).at(-1)
    assert.equal(run.status, 'succeeded', run.error)
    const { body } = await app.request('GET', `/api/runs/${run.id}/log`)
    const log = typeof body === 'string' ? body : JSON.stringify(body)
    return /SERVICE_SKILLS_DIR\\*":\\*"([^"\\]+)/.exec(log)![1]!
  }
  const first = await seen()
  assert.deepEqual(snapshot(path.join(first, 'maps')), { 'SKILL.md': skillText('maps'), 'a.md': 'one' })
  await importFiles(app, app.companyId, { 'SKILL.md': skillText('maps'), 'a.md': 'two' })
  const second = await seen()
  assert.deepEqual(snapshot(path.join(second, 'maps')), { 'SKILL.md': skillText('maps'), 'a.md': 'two' })
  assert.ok(!existsSync(first))
})

test('a live run keeps its skill folder after a sync', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeSkills(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps'] })
  const first = await sync(app, agent)
  const runId = insertRunRow(app.ctx, agent)
  const second = await sync(app, agent, { desiredSkills: ['ink'] })
  assert.ok(existsSync(path.join(first.directory, 'maps/SKILL.md')))
  app.ctx.db.run(sql.updateTable('run').set({ finished_at: app.ctx.now, status: 'succeeded' }).where('id', '=', runId))
  await sync(app, agent)
  assert.deepEqual(readdirSync(path.dirname(second.directory)), [path.basename(second.directory)])
})

type Test = Parameters<typeof temporaryFolder>[0]

/** Creates a company with its own skills `ink` and `maps`, and `ink` and `sums` from a repository. */
async function arrangeSkills(t: Test, app: TestApp) {
  const companyId = await makeCompany(app)
  await importFiles(app, companyId, {
    'ink/SKILL.md': skillText('ink'),
    'maps/SKILL.md': skillText('maps'),
    'maps/run.sh': '#!/bin/sh\n',
  })
  await importRepository(t, app, companyId, 'tern/skills', ['ink', 'sums'])
  const skills: { key: string; id: string }[] = await app.make('GET', `/api/companies/${companyId}/skills`)
  return { companyId, ids: Object.fromEntries(skills.map(({ key, id }) => [key, id])) }
}

async function importRepository(t: Test, app: TestApp, companyId: string, repository: string, slugs: string[]) {
  const zip = repositoryZip(Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, skillText(slug)])))
  const fetched = t.mock.method(globalThis, 'fetch', async () => new Response(zip as Uint8Array<ArrayBuffer>))
  const source = { type: 'github', url: `https://github.com/${repository}` }
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { source })
  fetched.mock.restore()
}

const sync = (app: TestApp, agent: { id: string }, body?: object) =>
  app.make('POST', `/api/agents/${agent.id}/skills/sync`, body)

/** Returns the paths of the files in a folder. */
const filesIn = (folder: string): string[] => Object.keys(snapshot(folder))

const snapshot = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]),
  )
