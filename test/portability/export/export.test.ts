import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/platform/database/sql.ts'
import { exportJob } from '../../../src/portability/export/export.ts'
import { asAgent, insertAgent, insertManyIssues } from '../../arrange.ts'
import { createTestApp, type TestApp, temporaryFolder } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'
import { exportAll, importNew } from '../fixtures.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
type Any = any

const KEY = 'sk-abcdefghijklmnop1234567890'

/** Creates a company with objects of every kind, and with data that an export must not contain. */
async function fullCompany(app: TestApp) {
  const companyId = await makeCompany(app, { name: 'Walrus Ltd', description: `Ours. ${KEY}`, brandColor: '#102030' })
  const at = (noun: string) => `/api/companies/${companyId}/${noun}`
  const instructions = path.join(app.config.dataDir, 'chief.md')
  app.canaries.except(
    'env value',
    /^(chief\.md|service\.db.*)$/,
    'the key is in instructions and a description too, on purpose',
  )
  app.canaries.except('sealed value', /^(chief\.md|service\.db.*)$/, 'the same one')
  writeFileSync(instructions, `Lead well.\r\nThe key is ${KEY}.\n`)
  const skills = {
    files: { 'dig/SKILL.md': '---\nname: dig\n---\nDig.\n', 'dig/assets/x.bin': { encoding: 'base64', data: 'AP+A' } },
  }
  await app.make('POST', at('skills/import'), skills)
  const chief = await makeAgent(app, companyId, {
    name: 'Chief',
    role: 'ceo',
    icon: 'crown',
    capabilities: 'Leads',
    desiredSkills: ['dig'],
    adapterConfig: {
      instructionsFilePath: instructions,
      cwd: '/srv/walrus',
      command: '/opt/private/claude',
      extraArgs: ['--add-dir=/srv/other'],
      env: { GH_TOKEN: KEY, REGION: 'eu' },
      model: 'some-model',
      promptTemplate: `Use ${KEY}`,
    },
    runtimeConfig: { heartbeat: { enabled: true, intervalSec: 900 } },
    metadata: { note: '/srv/walrus' },
  })
  const worker = await makeAgent(app, companyId, {
    name: 'Worker',
    reportsTo: chief.id,
    adapterType: 'http',
    adapterConfig: { url: 'https://hooks.example/x', headers: { authorization: KEY } },
    budgetMonthlyCents: 1234,
  })
  const gone = await makeAgent(app, companyId, { name: 'Gone', reportsTo: chief.id })
  const below = await makeAgent(app, companyId, { name: 'Below', reportsTo: gone.id })
  await app.make('PATCH', `/api/agents/${below.id}`, { reportsTo: worker.id })
  await app.make('POST', `/api/agents/${gone.id}/terminate`)
  const goal = await app.make('POST', at('goals'), { title: 'Swim', status: 'active', ownerAgentId: chief.id })
  await app.make('POST', at('goals'), { title: 'Dive', parentId: goal.id })
  const project = await app.make('POST', at('projects'), {
    name: 'Dam',
    goalIds: [goal.id],
    leadAgentId: chief.id,
    targetDate: '2027-01-31',
    workspace: { repoUrl: 'https://git.example/dam', cwd: '/srv/dam' },
  })
  await app.make('POST', `/api/projects/${project.id}/workspaces`, { cwd: '/srv/only-here' })
  const label = await app.make('POST', at('labels'), { name: 'Wet', color: '#0000ff' })
  const first = await app.make('POST', at('issues'), {
    title: 'Dig',
    projectId: project.id,
    assigneeAgentId: worker.id,
    labelIds: [label.id],
  })
  await app.make('POST', at('issues'), {
    title: 'Dig',
    parentId: first.id,
    blockedByIssueIds: [first.id],
    priority: 'high',
  })
  const done = await app.make('POST', at('issues'), { title: 'Over', status: 'done' })
  return { companyId, chief, worker, first, done, project, url: at('exports') }
}

test('an export contains no secrets, ids, timestamps or paths of this machine', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await fullCompany(app)
  const { files, warnings } = await app.make('POST', `/api/companies/${companyId}/exports/preview`, {
    include: { issues: true },
  })
  const all = JSON.stringify(files)
  assert.ok(!all.includes(KEY))
  assert.ok(!all.includes(app.config.dataDir))
  for (const pattern of [
    /\/srv\//,
    /\/opt\//,
    /[0-9a-f]{8}-[0-9a-f]{4}-7/,
    /2026-11-21/,
    /WAL-\d/,
    /Gone/,
    /Over/,
    /only-here/,
  ]) {
    assert.ok(!pattern.test(all), String(pattern))
  }
  const sidecar = files['.service.yaml']
  assert.match(sidecar, /command: claude\n/)
  assert.match(sidecar, /GH_TOKEN:\n +kind: secret\n/)
  assert.match(sidecar, /REGION:/)
  assert.ok(!/enabled/.test(sidecar))
  assert.match(files['agents/chief/AGENTS.md'], /Lead well\.\nThe key is \[redacted\]\./)
  assert.match(files['agents/below/AGENTS.md'], /reportsTo: worker/)
  const printed = warnings.map((warning: Any) => warning.message).join('\n')
  for (const what of [
    /extraArgs/,
    /promptTemplate/,
    /looks like a secret/,
    /1 closed issue is not/,
    /a folder of this machine/,
  ])
    assert.match(printed, what)
})

test('a round trip of a complete company gives an identical export', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await fullCompany(app)
  const first = await exportAll(app, companyId)
  const { target } = await importNew(app, first)
  assert.deepEqual(await exportAll(app, target.companyId), first)
  const issues: Any[] = (await app.request('GET', `/api/companies/${target.companyId}/issues`)).body
  const child = issues.find((issue) => issue.parentId !== null)
  assert.deepEqual([child.title, child.priority, child.requestDepth], ['Dig', 'high', 1])
  assert.equal(child.blockedBy[0].id, child.parentId)
  assert.deepEqual(issues.find((issue) => issue.id === child.parentId).labels[0].name, 'Wet')
})

test('the preview lists every file with its size and reason; issues are included only on request', async (t) => {
  const app = createTestApp(t)
  const { url } = await fullCompany(app)
  const preview = await app.make('POST', `${url}/preview`)
  assert.deepEqual(
    preview.fileInventory.map((file: Any) => file.path),
    Object.keys(preview.files),
  )
  assert.ok(preview.fileInventory.every((file: Any) => file.bytes > 0 && file.reason.length > 0))
  assert.equal(preview.counts.issues, 0)
  assert.deepEqual(preview.manifest.include, {
    company: true,
    agents: true,
    skills: true,
    projects: true,
    issues: false,
  })
  assert.deepEqual(
    preview.manifest.agents.map((agent: Any) => agent.slug),
    ['below', 'chief', 'worker'],
  )
  assert.equal(preview.files['skills/dig/assets/x.bin'].data, 'AP+A')
  const exported = await app.make('POST', url, {})
  assert.deepEqual(exported.files, preview.files)
  const { body } = await app.request('GET', url.replace('exports', 'activity'))
  assert.equal(body[0].action, 'company.exported')
})

test('an export with too many open issues is refused, and succeeds without issues', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = insertAgent(app, { company_id: companyId })
  await app.ctx.write(() => insertManyIssues(app.ctx, agent, 14_000))
  for (const what of ['exports/preview', 'exports']) {
    const refused = await app.request('POST', `/api/companies/${companyId}/${what}`, { include: { issues: true } })
    assert.deepEqual([refused.status, refused.body.details.fields[0].path], [422, 'include.issues'])
  }
  const { manifest } = await app.make('POST', `/api/companies/${companyId}/exports`, {})
  assert.deepEqual(manifest.issues, [])
})

test('selecting files reduces the package, and the remaining files have no broken references', async (t) => {
  const app = createTestApp(t)
  const { url } = await fullCompany(app)
  const task = 'projects/dam/tasks/dig/TASK.md'
  const selectedFiles = ['.service.yaml', 'agents/below/AGENTS.md', 'agents/chief/AGENTS.md', task]
  const { files } = await app.make('POST', url, { selectedFiles })
  assert.deepEqual(Object.keys(files).sort(), selectedFiles)
  assert.match(files['agents/below/AGENTS.md'], /reportsTo: chief/)
  assert.ok(!/assignee/.test(files[task]))
  assert.ok(!/worker|goals/.test(files['.service.yaml']))
  const unknown = await app.request('POST', url, { selectedFiles: ['agents/nobody/AGENTS.md'] })
  assert.equal(unknown.status, 422)
  const plan = await importNew(app, files, { target: { mode: 'new_company', newCompanyName: 'Part' } })
  assert.deepEqual(plan.counts.byKind.agent, { create: 2, rename: 0, skip: 0 })
})

test('an export of agents only contains no company', async (t) => {
  const app = createTestApp(t)
  const { url } = await fullCompany(app)
  const include = { company: false, projects: false }
  const { files } = await app.make('POST', url, { include })
  assert.deepEqual(
    Object.keys(files)
      .map((file) => file.split('/')[0])
      .filter((part, i, all) => all.indexOf(part) === i),
    ['.service.yaml', 'agents', 'skills'],
  )
  const alone = await app.make('POST', url, { include: { ...include, skills: false } })
  assert.ok(Object.keys(alone.files).every((file) => !file.startsWith('skills/')))
  assert.deepEqual(alone.manifest.skills, [])
})

test('an export by an agent reads only files in agent folders, and no export reads files other than markdown', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const ceo = await makeAgent(app, companyId, { name: 'Chief', role: 'ceo' })
  const request = await asAgent(app, ceo)
  const folder = path.join(app.config.dataDir, 'elsewhere')
  mkdirSync(folder)
  const url = `/api/companies/${companyId}/exports`
  for (const [file, boardSees] of [
    ['notes.md', true],
    ['key.pem', false],
  ] as const) {
    writeFileSync(path.join(folder, file), 'private words')
    const change = { path: path.join(folder, file) }
    assert.equal((await request('PATCH', `/api/agents/${ceo.id}/instructions-path`, change)).status, 200)
    const own = await request('POST', url, {})
    assert.equal(own.status, 200)
    assert.ok(!JSON.stringify(own.body.files).includes('private words'))
    assert.match(own.body.warnings[0].message, /instructions file/)
    assert.ok(!JSON.stringify((await app.make('POST', url)).files).includes('private words'))
    // The board can export a path that it set itself.
    await app.make('PATCH', `/api/agents/${ceo.id}/instructions-path`, { path: null })
    await app.make('PATCH', `/api/agents/${ceo.id}/instructions-path`, change)
    assert.equal(JSON.stringify((await app.make('POST', url)).files).includes('private words'), boardSees)
  }
})

test('titles of issues and goals do not change the result of a round trip', async (t) => {
  const app = createTestApp(t)
  const title = fc.oneof(
    fc.constantFrom(
      'Foo',
      'foo',
      'Foo 2',
      'Foo 3',
      'foo-2',
      '2024',
      '7',
      '🚀',
      'null',
      '- x',
      'a: b',
      '# c',
      '"q',
      'é',
    ),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((text) => text.trim() !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)),
  )
  const text = fc.oneof(fc.constantFrom('---\nname: x\n---\n', '# A\r\n\r\nB', '  indented\n', '\ttab'), fc.lorem())
  const issue = fc.record({
    title,
    description: text,
    parent: fc.nat(),
    status: fc.constantFrom('backlog', 'todo', 'blocked'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(issue, { maxLength: 8 }), fc.array(title, { maxLength: 4 }), async (issues, goals) => {
      const companyId = await makeCompany(app)
      const ids: string[] = []
      for (const { parent, ...want } of issues) {
        const parentId = ids.length > 0 && parent % 2 === 1 ? ids[parent % ids.length] : null
        ids.push((await app.make('POST', `/api/companies/${companyId}/issues`, { ...want, parentId })).id)
      }
      // A parent can be newer than its child.
      const [oldest, youngest] = [ids[0], ids.at(-1)]
      if (ids.length > 1) await app.request('PATCH', `/api/issues/${oldest}`, { parentId: youngest })
      for (const goal of goals) await app.make('POST', `/api/companies/${companyId}/goals`, { title: goal })
      const first = await exportAll(app, companyId)
      const { target } = await importNew(app, first)
      assert.deepEqual(await exportAll(app, target.companyId), first)
      const count = (id: string) =>
        app.ctx.db.all(sql.selectFrom('issue').select('id').where('company_id', '=', id)).length
      assert.equal(count(target.companyId), issues.length)
    }),
    { numRuns: 60 },
  )
})

test('a path that an agent set does not let an export by the board read outside the allowed folders', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const ceo = await makeAgent(app, companyId, { name: 'Chief', role: 'ceo' })
  const request = await asAgent(app, ceo)
  const outside = path.join(temporaryFolder(t), 'notes.md')
  writeFileSync(outside, 'Private notes.')
  const inDataDir = path.join(app.config.dataDir, 'private.md')
  writeFileSync(inDataDir, 'Private notes.')
  for (const file of [outside, `${app.config.dataDir}/agents/../private.md`]) {
    const change = await request('PATCH', `/api/agents/${ceo.id}/instructions-path`, { path: file })
    assert.equal(change.status, 200, file)
    const { body } = await app.request('POST', `/api/companies/${companyId}/exports`, {})
    assert.doesNotMatch(JSON.stringify(body.files), /Private notes/)
    assert.match(JSON.stringify(body.warnings), /instructions file/)
  }
})

test('a large company is exported in a thread, with the same result, also for a retry with the same key', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = insertAgent(app, { company_id: companyId })
  insertManyIssues(app.ctx, agent, 400)
  const run = t.mock.method(app.ctx.reader, 'runApart')
  const body = { include: { issues: true } }
  const request = () => app.request('POST', `/api/companies/${companyId}/exports`, body, { 'idempotency-key': 'one' })
  const [exported, again] = [await request(), await request()]
  assert.equal(run.mock.callCount(), 1)
  assert.deepEqual(again.body, exported.body)
  const instructions = { texts: new Map(), warnings: [] }
  const include = { company: true, agents: true, projects: true, skills: true, issues: true }
  const input = { companyId, now: app.ctx.now, instructions, include, selectedFiles: undefined, isPreview: false }
  const { json } = exportJob.run(app.ctx.db, input, () => {})
  assert.deepEqual(exported.body, JSON.parse(Buffer.from(json).toString()))
})

test('an export names the parts of open issues that it does not contain', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const issue = await app.make('POST', `/api/companies/${companyId}/issues`, { title: 'Count', assigneeUserId: 'me' })
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: 'Soon.' })
  await app.make('PUT', `/api/issues/${issue.id}/documents/plan`, { body: '# Plan' })
  const preview = await app.make('POST', `/api/companies/${companyId}/exports/preview`, { include: { issues: true } })
  const messages = preview.warnings.map(({ message }: { message: string }) => message)
  assert.ok(messages.includes('Of the open issues, these are not exported: 1 comment, 1 document.'), String(messages))
  assert.ok(messages.some((message: string) => message.endsWith('because a package names only agents: 1.')))
})
