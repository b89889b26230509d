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

test('desired skills are named by id, key or slug, and stored as keys', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await shelf(t, app)
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

test('an entry that names no skill, or several, is refused by name with what it may mean', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await shelf(t, app)
  await app.make('DELETE', `/api/skills/${ids.ink}`)
  await hosted(t, app, companyId, 'other/skills', ['ink'])
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
    const answer = await app.ask(method, url, body)
    assert.equal(answer.status, 422, url)
    assert.match(answer.body.error, /"ink" is the slug of several skills.*"nothing"/)
    assert.deepEqual(
      answer.body.details.fields.map((field: { path: string; candidates: string[] }) => [field.path, field.candidates]),
      [
        ['desiredSkills.1', ['other/skills/ink', 'tern/skills/ink']],
        ['desiredSkills.2', []],
        ['desiredSkills.3', []],
      ],
    )
  }
  assert.equal((await app.make('GET', `/api/companies/${companyId}/agents`)).length, 1)
})

test('a sync writes exactly the skills that are desired, and the answer says what is there', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
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

test('two skills of one slug have folders of their own', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['ink', 'tern/skills/ink'] })
  const { directory } = await sync(app, agent)
  assert.deepEqual(readdirSync(directory).sort(), ['.claude-plugin', 'heartbeat', 'ink', 'tern--skills--ink'])
})

test('a folder that was tampered with is made anew, and no link in it is followed', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
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
    const answer = await sync(app, agent)
    assert.equal(answer.changed, true, what)
    assert.deepEqual(snapshot(directory), whole, what)
    assert.deepEqual(snapshot(outside), { 'SKILL.md': 'mine' }, what)
  }
})

test('many syncs at once come to the same as one, and leave nothing else', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps'] })
  const answers = await Promise.all(Array.from({ length: 8 }, () => sync(app, agent)))
  const [directory, ...others] = new Set(answers.map((answer) => answer.directory))
  assert.deepEqual(others, [])
  assert.deepEqual(filesIn(directory!), [
    '.claude-plugin/plugin.json',
    'heartbeat/SKILL.md',
    'maps/SKILL.md',
    'maps/run.sh',
  ])
  assert.deepEqual(readdirSync(path.dirname(directory!)), [path.basename(directory!)])
})

test('the agent syncs its own skills but does not choose them; its managers and the board do', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
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
  assert.equal((await app.ask('POST', url)).status, 422)
})

test('a deleted skill goes from the agents that had it', async (t) => {
  const app = createTestApp(t)
  const { companyId, ids } = await shelf(t, app)
  const agent = await makeAgent(app, companyId, { desiredSkills: ['maps', 'ink'] })
  await app.make('DELETE', `/api/skills/${ids.maps}`)
  assert.deepEqual((await app.make('GET', `/api/agents/${agent.id}`)).desiredSkills, ['ink'])
  assert.equal((await app.ask('GET', `/api/skills/${ids.maps}`)).status, 404)
  assert.deepEqual((await actions(app, companyId)).slice(-2), ['agent.skills_changed', 'skill.deleted'])
})

test('a deleted company leaves no file and no row of its skills', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
  await sync(app, await makeAgent(app, companyId, { desiredSkills: ['maps'] }))
  await app.make('DELETE', `/api/companies/${companyId}`, { confirm: 'Acme' })
  assert.deepEqual(readdirSync(path.join(app.config.dataDir, 'skills')), [])
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('skill').select('id')), [])
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('skill_file').select('path')), [])
})

test('a version of the service with another heartbeat skill brings it to every company', async (t) => {
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

test('a run sees the skills of its agent, as they are when it starts', async (t) => {
  const app = await createTestRuns(t)
  await importFiles(app, app.companyId, { 'SKILL.md': skillText('maps'), 'a.md': 'one' })
  const agentId = await app.agentThat('echo-env.js')
  await app.make('PATCH', `/api/agents/${agentId}`, { desiredSkills: ['maps'] })
  const seen = async () => {
    await app.make('POST', `/api/agents/${agentId}/heartbeat/invoke`)
    await app.settle()
    const run = (await app.runs()).at(-1)
    assert.equal(run.status, 'succeeded', run.error)
    const { body } = await app.ask('GET', `/api/runs/${run.id}/log`)
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

test('a live run keeps the folder that it began with', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await shelf(t, app)
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

/** A company with the skills `ink` and `maps` of its own, and `ink` and `sums` of a repository. */
async function shelf(t: Test, app: TestApp) {
  const companyId = await makeCompany(app)
  await importFiles(app, companyId, {
    'ink/SKILL.md': skillText('ink'),
    'maps/SKILL.md': skillText('maps'),
    'maps/run.sh': '#!/bin/sh\n',
  })
  await hosted(t, app, companyId, 'tern/skills', ['ink', 'sums'])
  const skills: { key: string; id: string }[] = await app.make('GET', `/api/companies/${companyId}/skills`)
  return { companyId, ids: Object.fromEntries(skills.map(({ key, id }) => [key, id])) }
}

async function hosted(t: Test, app: TestApp, companyId: string, repository: string, slugs: string[]) {
  const zip = repositoryZip(Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, skillText(slug)])))
  const fetched = t.mock.method(globalThis, 'fetch', async () => new Response(zip as Uint8Array<ArrayBuffer>))
  const source = { type: 'github', url: `https://github.com/${repository}` }
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { source })
  fetched.mock.restore()
}

const sync = (app: TestApp, agent: { id: string }, body?: object) =>
  app.make('POST', `/api/agents/${agent.id}/skills/sync`, body)

/** The files below a folder, by path. */
const filesIn = (folder: string): string[] => Object.keys(snapshot(folder))

const snapshot = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]),
  )
