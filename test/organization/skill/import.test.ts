import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { asAgent } from '../../arrange.ts'
import { createTestApp, type TestApp, temporaryFolder } from '../../helpers.ts'
import { actions, makeAgent, makeCompany } from '../../make.ts'
import { importFiles, skillText } from './arrange.ts'

test('a skill imported as files can be read back completely', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255])
  const { imported, warnings } = await importFiles(app, companyId, {
    'SKILL.md': skillText('Tide Tables', 'Reads: no, "writes" tides.').replace(
      'Reads: no, "writes" tides.',
      '>\n  Reads and\n  writes tides.',
    ),
    'references/harbours.md': '# Harbours\n',
    'assets/map.png': { encoding: 'base64', data: picture.toString('base64') },
    'scripts/tide.sh': '#!/bin/sh\necho tide\n',
  })
  assert.deepEqual(warnings, [])
  assert.equal(imported.length, 1)
  const { outcome, ...skill } = imported[0]
  assert.equal(outcome, 'created')
  assert.deepEqual(
    [skill.key, skill.slug, skill.name, skill.description, skill.sourceType, skill.trustLevel],
    ['tide-tables', 'tide-tables', 'Tide Tables', 'Reads and writes tides.', 'inline', 'scripts_executables'],
  )
  assert.deepEqual(
    skill.fileInventory.map((file: { path: string; kind: string }) => [file.path, file.kind]),
    [
      ['SKILL.md', 'skill'],
      ['assets/map.png', 'asset'],
      ['references/harbours.md', 'markdown'],
      ['scripts/tide.sh', 'script'],
    ],
  )
  const read = await app.make('GET', `/api/skills/${skill.id}`)
  assert.deepEqual(read, { ...skill, usedByAgents: [] })
  const text = await app.make('GET', `/api/skills/${skill.id}/files?path=references/harbours.md`)
  assert.deepEqual([text.encoding, text.content], ['utf8', '# Harbours\n'])
  const bytes = await app.make('GET', `/api/skills/${skill.id}/files?path=assets%2Fmap.png`)
  assert.deepEqual([bytes.encoding, bytes.content, bytes.bytes], ['base64', picture.toString('base64'), 6])
  assert.match((await app.make('GET', `/api/skills/${skill.id}/files`)).content, /^---\nname: Tide/)
  assert.equal((await app.request('GET', `/api/skills/${skill.id}/files?path=../x`)).status, 404)
  assert.equal((await actions(app, companyId)).at(-1), 'skill.imported')
})

test('each folder with a SKILL.md is a skill, without nested skills', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const { imported, warnings } = await importFiles(app, companyId, {
    'README.md': 'Of no skill.',
    'skills/ink/SKILL.md': skillText('ink'),
    'skills/ink/references/a.md': 'a',
    'skills/ink/more/fine/SKILL.md': skillText('fine'),
    'skills/ink/more/fine/b.md': 'b',
    'skills/ink/more/c.md': 'c',
  })
  const paths = imported.map((skill: { key: string; fileInventory: { path: string }[] }) => [
    skill.key,
    skill.fileInventory.map((file) => file.path),
  ])
  assert.deepEqual(paths, [
    ['fine', ['SKILL.md', 'b.md']],
    ['ink', ['SKILL.md', 'more/c.md', 'references/a.md']],
  ])
  assert.deepEqual(warnings, ['README.md is not part of a skill and was ignored.'])
})

test('imports every skill of a real package, and a second import changes nothing', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const files = {
    'skills/qa/SKILL.md': readFixture('qa'),
    'skills/plan-ceo-review/SKILL.md': readFixture('plan-ceo-review'),
  }
  const first = await importFiles(app, companyId, files)
  assert.deepEqual(outcomes(first), ['plan-ceo-review created', 'qa created'])
  assert.match(first.imported[0].description, /\S{3}/)
  const before = await actions(app, companyId)
  assert.deepEqual(outcomes(await importFiles(app, companyId, files)), ['plan-ceo-review unchanged', 'qa unchanged'])
  assert.deepEqual(await actions(app, companyId), before)
})

test('importing a skill again replaces its files and keeps its id', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const first = await importFiles(app, companyId, { 'SKILL.md': skillText('ink'), 'old.md': 'old' })
  app.clock.move(1_000)
  const second = await importFiles(app, companyId, { 'SKILL.md': skillText('ink', 'Draws.'), 'run.py': 'print()' })
  const [before, after] = [first.imported[0], second.imported[0]]
  assert.deepEqual(outcomes(second), ['ink updated'])
  assert.equal(after.id, before.id)
  assert.deepEqual(
    [before.trustLevel, after.trustLevel, after.description],
    ['markdown_only', 'scripts_executables', 'Draws.'],
  )
  assert.notEqual(after.updatedAt, before.updatedAt)
  assert.equal((await app.request('GET', `/api/skills/${after.id}/files?path=old.md`)).status, 404)
  assert.equal((await actions(app, companyId)).at(-1), 'skill.updated')
})

test('an import of several skills is atomic', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const files = { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': '---\nname: [\n---\n' }
  const response = await app.request('POST', `/api/companies/${companyId}/skills/import`, { files })
  assert.equal(response.status, 422)
  assert.match(response.body.error, /b\/SKILL\.md/)
  assert.deepEqual(await keys(app, companyId), ['service/heartbeat'])
})

test('the trust level depends on the files of a skill', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const rows: [string, string, string][] = [
    ['references/a.md', 'words', 'markdown_only'],
    ['notes.txt', 'words', 'markdown_only'],
    ['data.json', '{}', 'assets'],
    ['tool', '#!/usr/bin/env node\n', 'scripts_executables'],
    ['tool.PY', 'x', 'scripts_executables'],
    ['scripts/notes.md', 'words', 'scripts_executables'],
    ['bin', '\u007fELF', 'scripts_executables'],
  ]
  for (const [file, content, trustLevel] of rows) {
    const { imported } = await importFiles(app, companyId, { 'SKILL.md': skillText('x'), [file]: content })
    assert.equal(imported[0].trustLevel, trustLevel, file)
  }
})

/** Hostile files, by problem, with the expected error. */
const HOSTILE: Record<string, [Record<string, unknown>, RegExp]> = {
  'a way up': [{ '../x.md': 'x' }, /\.\./],
  'a way up in the middle': [{ 'a/../../x.md': 'x' }, /\.\./],
  'an absolute path': [{ '/etc/x.md': 'x' }, /relative/],
  'a drive': [{ 'C:/x.md': 'x' }, /colon/],
  'a backslash': [{ '..\\x.md': 'x' }, /backslash/],
  'an empty part': [{ 'a//x.md': 'x' }, /empty/],
  'an empty path': [{ '': 'x' }, /empty/],
  'a folder as a file': [{ 'a/': 'x' }, /empty/],
  'a dot part': [{ './x.md': 'x' }, /empty parts/],
  'a control character': [{ 'a\u0007.md': 'x' }, /printed/],
  'a right-to-left override': [{ 'a\u202etxt.md': 'x' }, /printed/],
  'a trailing dot': [{ 'a./x.md': 'x' }, /dot/],
  'a git folder': [{ '.git/hooks/pre-commit': 'x' }, /\.git/],
  'a git folder in capitals': [{ 'a/.GIT/config': 'x' }, /\.git/],
  'a path beyond the limit': [{ [`${'a'.repeat(301)}.md`]: 'x' }, /longer/],
  'a path too deep': [{ [`${'a/'.repeat(13)}x.md`]: 'x' }, /deeper/],
  'names that differ by case': [{ 'a.md': 'x', 'A.md': 'y' }, /same on some file systems/],
  'another Skill.md': [{ 'skill.md': 'x' }, /same on some file systems/],
  'folders that differ by case': [{ 'a/x.md': 'x', 'A/y.md': 'y' }, /same on some file systems/],
  'names that differ by their form': [{ 'é.md': 'x', 'e\u0301.md': 'y' }, /same on some file systems/],
  'a file that is a folder too': [{ a: 'x', 'a/b.md': 'y' }, /same on some file systems/],
  'a file beyond the limit': [{ 'big.md': 'x'.repeat(1024 * 1024 + 1) }, /larger/],
  'too many files': [Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${i}.md`, 'x'])), /more than 500/],
  'too many bytes': [
    Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`${i}.md`, 'x'.repeat(1024 * 1024)])),
    /more than 4194304 bytes/,
  ],
}

/** Invalid frontmatter, by problem, with the expected error. */
const HOSTILE_HEADS: Record<string, [string, RegExp]> = {
  'no end': ['---\nname: x\n', /has no end/],
  'a size beyond the limit': [`---\nname: x\nk: ${'y'.repeat(20_000)}\n---\n`, /longer than 16384/],
  'anchors that multiply': ['---\na: &a [x, x]\nb: &b [*a, *a]\nname: *b\n---\n', /YAML/],
  'a single alias': ['---\na: &a x\nname: *a\n---\n', /YAML/],
  'a tag': ['---\nname: !!js/function "function () {}"\n---\n', /YAML/],
  'a key twice': ['---\nname: x\nname: y\n---\n', /YAML/],
  'broken YAML': ['---\nname: "x\n---\n', /YAML/],
  'a depth beyond the stack': [`---\nname: ${'['.repeat(15_000)}\n---\n`, /too many keys, items or lines/],
  'a list': ['---\n- x\n---\n', /keys to values/],
  'a name that is a number': ['---\nname: 7\n---\n', /name must be a text/],
  'a name that is a decimal number': ['---\nname: 1.0\n---\n', /name must be a text/],
  'a description that is a list': ['---\nname: x\ndescription: [a]\n---\n', /description must be a text/],
  'a name beyond the limit': [`---\nname: ${'x'.repeat(201)}\n---\n`, /longer/],
  'no name': ['---\ndescription: x\n---\n', /no name/],
  'no frontmatter': ['# Just text\n', /no name/],
  'a name without Latin letters': ['---\nname: 潮汐\n---\n', /Latin/],
  'a NUL': ['---\nname: "x\\0"\n---\n', /NUL/],
}

test('refuses hostile files, and the error names the problem', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const url = `/api/companies/${companyId}/skills/import`
  for (const [what, [files, message]] of Object.entries(HOSTILE)) {
    const { status, body } = await app.request('POST', url, { files: { 'SKILL.md': skillText('x'), ...files } })
    assert.deepEqual([status, body.code], [422, 'semantic'], what)
    assert.match(body.error, message, what)
    assert.ok(body.error.length < 600, what)
  }
  for (const [what, [text, message]] of Object.entries(HOSTILE_HEADS)) {
    const { status, body } = await app.request('POST', url, { files: { 'SKILL.md': text } })
    assert.equal(status, 422, what)
    assert.match(body.error, message, what)
  }
  assert.deepEqual(await keys(app, companyId), ['service/heartbeat'])
})

test('refuses a body without exactly one valid source', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const url = `/api/companies/${companyId}/skills/import`
  const file = { 'SKILL.md': skillText('x') }
  const rows: [unknown, number][] = [
    [{}, 400],
    [{ files: file, path: '/tmp' }, 400],
    [{ files: file, wrong: 1 }, 400],
    [{ files: { 'SKILL.md': 7 } }, 400],
    [{ files: { 'SKILL.md': { encoding: 'base64', data: '%%%' } } }, 400],
    [{ files: { 'SKILL.md': { encoding: 'hex', data: '00' } } }, 400],
    [`{"files":{"__proto__":"x","SKILL.md":"y"}}`, 400],
    [`{"files":{"a\\u0000b":"x"}}`, 400],
    [{ path: 'relative' }, 400],
    [{ source: 'no-repository' }, 422],
    [{ source: 'https://example.com/a/b' }, 422],
    [{ source: '', files: file }, 400],
    [{ files: {} }, 422],
    [{ files: { 'README.md': 'x' } }, 422],
    [{ files: { 'a/SKILL.md': skillText('x'), 'b/SKILL.md': skillText('X') } }, 422],
    [{ files: { 'SKILL.md': { encoding: 'base64', data: Buffer.from([0xff, 0xfe]).toString('base64') } } }, 422],
  ]
  for (const [body, status] of rows)
    assert.equal((await app.request('POST', url, body)).status, status, JSON.stringify(body))
})

test('`source` may be an absolute path, like `path`', async (t) => {
  const app = createTestApp(t)
  const url = `/api/companies/${await makeCompany(app)}/skills/import`
  const folder = temporaryFolder(t)
  writeFileSync(path.join(folder, 'SKILL.md'), skillText('tides'))
  const { imported } = await app.make('POST', url, { source: folder })
  assert.deepEqual([imported[0].key, imported[0].sourceType], ['tides', 'local_path'])
})

test('the board, the CEO and managers may import and delete skills; every agent of the company may read them', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const ceo = await makeAgent(app, companyId, { name: 'Boss', role: 'ceo' })
  const lead = await makeAgent(app, companyId, { name: 'Lead', reportsTo: ceo.id })
  const worker = await makeAgent(app, companyId, { name: 'Worker', reportsTo: lead.id })
  const stranger = await makeAgent(app, await makeCompany(app), { role: 'ceo' })
  const { imported } = await importFiles(app, companyId, { 'SKILL.md': skillText('shared') })
  const one = `/api/skills/${imported[0].id}`
  const list = `/api/companies/${companyId}/skills`
  const rows: [{ id: string; companyId: string }, number, number, number][] = [
    [worker, 403, 200, 403],
    [stranger, 403, 404, 404],
    [lead, 201, 200, 200],
    [ceo, 201, 404, 404],
  ]
  for (const [agent, importing, reading, deleting] of rows) {
    const request = await asAgent(app, agent)
    const body = { files: { 'SKILL.md': skillText(`of-${agent.id}`) } }
    assert.equal((await request('POST', `${list}/import`, body)).status, importing)
    assert.equal((await request('POST', `${list}/import`, { path: path.resolve('/') })).status, 403)
    assert.equal((await request('GET', list)).status, agent === stranger ? 403 : 200)
    assert.equal((await request('GET', one)).status, reading)
    assert.equal((await request('GET', `${one}/files`)).status, reading)
    assert.equal((await request('DELETE', one)).status, deleting)
  }
})

test('every company has the bundled heartbeat skill, and nobody can delete it', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const [skill, ...others] = await app.make('GET', `/api/companies/${companyId}/skills`)
  assert.deepEqual(others, [])
  assert.deepEqual([skill.key, skill.slug, skill.sourceType], ['service/heartbeat', 'heartbeat', 'bundled'])
  assert.match((await app.make('GET', `/api/skills/${skill.id}/files`)).content, /# The heartbeat/)
  assert.equal((await app.request('DELETE', `/api/skills/${skill.id}`)).status, 422)
})

test('the list is paginated by key and has a total count', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  await importFiles(app, companyId, { 'b/SKILL.md': skillText('b'), 'a/SKILL.md': skillText('a') })
  const first = await app.request('GET', `/api/companies/${companyId}/skills?limit=2&count=true`)
  assert.deepEqual(
    first.body.map((skill: { key: string }) => skill.key),
    ['a', 'b'],
  )
  assert.equal(first.headers.get('x-total-count'), '3')
  const next = /<(.+)>/.exec(first.headers.get('link')!)![1]!
  assert.deepEqual(
    (await app.make('GET', next)).map((skill: { key: string }) => skill.key),
    ['service/heartbeat'],
  )
})

const readFixture = (name: string) => readFileSync(path.join(import.meta.dirname, 'fixtures', `${name}.md`), 'utf8')

const outcomes = (result: { imported: { key: string; outcome: string }[] }) =>
  result.imported.map(({ key, outcome }) => `${key} ${outcome}`)

const keys = async (app: TestApp, companyId: string) =>
  (await app.make('GET', `/api/companies/${companyId}/skills`)).map((skill: { key: string }) => skill.key)
