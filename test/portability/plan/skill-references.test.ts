import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { repositoryZip } from '../../organization/skill/arrange.ts'
import { exportAll, importNew, inline } from '../fixtures.ts'

const COMMIT = 'a'.repeat(40)
const TEXT = '---\nname: other\nallowed-tools: [Read]\n---\n\nRead the table twice.\n'

const reference = (fields: string, body = '') =>
  `---\nname: tides\ndescription: Read a tide table.\nmetadata:\n  sources:\n    - ${fields.replaceAll('\n', '\n      ')}\n      attribution: Tern\n      usage: referenced\n---\n${body}`
const FETCH = { fetchSkills: true }
const FILE = `kind: github-file\nrepo: tern/skills\npath: tides/SKILL.md\ncommit: ${COMMIT}`
const company = (skill: string, slug = 'tides') => ({
  'COMPANY.md': '---\nname: Otter\nlicense: MIT\n---\n',
  'agents/kit/AGENTS.md': `---\nname: Kit\nskills: [${slug}]\n---\nWork.\n`,
  [`skills/${slug}/SKILL.md`]: skill,
})

/** Replaces GitHub by a server on the loopback interface. Returns the paths of its requests. */
async function standIn(
  t: TestContext,
  respond: (path: string) => { status: number; body?: Uint8Array; location?: string },
) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    const { status, body, location } = respond(request.url!)
    response.writeHead(status, location === undefined ? {} : { location }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { fetch } = globalThis
  t.mock.method(globalThis, 'fetch', (url: string, init: RequestInit) => {
    assert.equal(new URL(url).host, 'codeload.github.com', 'the server connects to GitHub only')
    return fetch(`http://127.0.0.1:${port}${new URL(url).pathname}`, init)
  })
  return paths
}

const archive = () =>
  repositoryZip({ 'tides/SKILL.md': TEXT, 'tides/references/a.md': 'a', LICENSE: 'MIT License', 'other/x.md': 'x' })

test('an import fetches the pinned text and the license of a referenced skill', async (t) => {
  const app = createTestApp(t)
  const paths = await standIn(t, () => ({ status: 200, body: archive() }))
  const { target, warnings } = await importNew(app, company(reference(FILE, 'A summary.')), FETCH)
  assert.deepEqual(paths, [`/tern/skills/zip/${COMMIT}`])
  assert.deepEqual(warnings, [])
  const skills = await app.make('GET', `/api/companies/${target.companyId}/skills`)
  const skill = skills.find(({ slug }: { slug: string }) => slug === 'tides')
  assert.equal(skill.isReference, false)
  assert.deepEqual(skill.fileInventory.map(({ path }: { path: string }) => path).sort(), ['LICENSE', 'SKILL.md'])
  const { content } = await app.make('GET', `/api/skills/${skill.id}/files`)
  assert.match(content, /Read the table twice\./)
  assert.doesNotMatch(content, /A summary/)
  assert.match(content, /name: tides\n[\s\S]*attribution: Tern\n[\s\S]*usage: mirrored/)

  const files = await exportAll(app, target.companyId)
  const again = await importNew(app, files)
  assert.deepEqual(await exportAll(app, again.target.companyId), files)
})

test('a reference to a folder imports all files of the folder', async (t) => {
  const app = createTestApp(t)
  await standIn(t, () => ({ status: 200, body: archive() }))
  const folder = FILE.replace('github-file', 'github-dir').replace('/SKILL.md', '')
  const { target } = await importNew(app, company(reference(folder)), FETCH)
  const skills = await app.make('GET', `/api/companies/${target.companyId}/skills`)
  const { fileInventory } = skills.find(({ slug }: { slug: string }) => slug === 'tides')
  assert.deepEqual(fileInventory.map(({ path }: { path: string }) => path).sort(), [
    'LICENSE',
    'SKILL.md',
    'references/a.md',
  ])
})

const FAILURES: Record<string, [string, Parameters<typeof standIn>[1], RegExp]> = {
  'a repository that does not exist': [FILE, () => ({ status: 404 }), /no such public repository/],
  'a redirect to a private address': [
    FILE,
    () => ({ status: 302, location: 'https://169.254.169.254/latest' }),
    /a foreign host/,
  ],
  'a path that does not exist in the repository': [
    FILE.replace('tides/', 'nowhere/'),
    () => ({ status: 200, body: archive() }),
    /no text file nowhere\/SKILL.md/,
  ],
  'a checksum that does not match': [
    `${FILE}\nsha256: ${hash('sha256', 'other')}`,
    () => ({ status: 200, body: archive() }),
    /differs from the checksum/,
  ],
  'a source without a commit': [FILE.replace(COMMIT, 'main'), () => ({ status: 200 }), /not pinned to a commit/],
  'a repository name with path segments': [
    FILE.replace('tern/skills', '"@evil.example/a/b"'),
    () => ({ status: 200 }),
    /must be like https:\/\/github.com/,
  ],
}

for (const [title, [fields, respond, reason]] of Object.entries(FAILURES)) {
  test(`${title} leaves the skill a reference, with a warning`, async (t) => {
    const app = createTestApp(t)
    await standIn(t, respond)
    const body = { source: inline(company(reference(fields))), target: { mode: 'new_company' } }
    const preview = await app.make('POST', '/api/companies/import/preview', body)
    const [warning] = preview.warnings.filter(({ code }: { code: string }) => code === 'skill_reference')
    assert.match(warning.message, /^1 skill is a reference; its text was not downloaded/)
    assert.match(warning.message, reason)
    const { target } = await app.make('POST', '/api/companies/import/apply', { ...body, planHash: preview.planHash })
    const skills = await app.make('GET', `/api/companies/${target.companyId}/skills`)
    assert.equal(skills.find(({ slug }: { slug: string }) => slug === 'tides').isReference, true)
  })
}

test('a text that matches the checksum of its reference is accepted', async (t) => {
  const app = createTestApp(t)
  await standIn(t, () => ({ status: 200, body: archive() }))
  const blob = hash('sha1', `blob ${TEXT.length}\0${TEXT}`)
  const { warnings } = await importNew(
    app,
    company(reference(`${FILE}\nsha256: ${hash('sha256', TEXT)}\nblob: ${blob}`)),
    FETCH,
  )
  assert.deepEqual(warnings, [])
})

test('an import without network access keeps references, and a later fetch downloads them', async (t) => {
  const app = createTestApp(t)
  let status = 503
  const paths = await standIn(t, () => ({ status, body: archive() }))
  const { target, warnings } = await importNew(app, company(reference(FILE)), { fetchSkills: false })
  assert.match(warnings[0].message, /^1 skill is a reference; its text was not downloaded/)
  assert.deepEqual(paths, [])

  const url = `/api/companies/${target.companyId}/skills/fetch`
  const failed = await app.make('POST', url)
  assert.deepEqual([failed.fetched.length, failed.failed[0].reason], [0, 'source: GitHub responded with status 503'])
  status = 200
  const { fetched } = await app.make('POST', url)
  assert.deepEqual(
    fetched.map(({ slug, isReference }: { slug: string; isReference: boolean }) => [slug, isReference]),
    [['tides', false]],
  )
  const [updated] = await app.make('GET', `/api/companies/${target.companyId}/activity?action=skill.updated`)
  assert.equal(updated.details.key, 'tides')
  assert.deepEqual(await app.make('POST', url), { fetched: [], failed: [] })
})
