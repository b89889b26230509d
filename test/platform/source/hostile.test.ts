import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32, deflateRawSync } from 'node:zlib'
import { strToU8, Zip, type ZipInputFile, zipSync } from 'fflate'
import { isPublicAddress } from '../../../src/platform/source/address.ts'
import type { SourceFiles } from '../../../src/platform/source/files.ts'
import { readFolder } from '../../../src/platform/source/folder.ts'
import { fetchRepository, readRepository } from '../../../src/platform/source/git.ts'
import { readZip } from '../../../src/platform/source/zip.ts'
import { READ_LIMITS, readPackageJob } from '../../../src/portability/read/read-package.ts'
import { fetchPackage } from '../../../src/portability/source/fetch.ts'
import { PACKAGE_FILES } from '../../../src/portability/source/package-files.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'
import { inline, refuse } from '../../portability/fixtures.ts'

const COMPANY = '---\nname: Acme\nlicense: MIT\n---\n'
const agent = (matter: string) => `---\n${matter}\n---\nWork.\n`

/** The content of each hostile package besides its company, and the message of its refusal. */
const HOSTILE: [string, Record<string, unknown>, RegExp][] = [
  ['a path outside the package', { '../../etc/cron.d/x': 'x' }, /must not contain \.\./],
  ['a nested path outside the package', { 'skills/x/../../../y': 'x' }, /must not contain \.\./],
  ['an absolute path', { '/etc/passwd': 'x' }, /absolute path/],
  ['a Windows path', { 'C:/windows/x': 'x' }, /absolute path/],
  ['a path with a backslash', { 'a\\..\\b': 'x' }, /backslash/],
  ['a path with a line end', { 'agents/a\n/AGENTS.md': 'x' }, /cannot be printed/],
  ['a path that is too long', { [`skills/${'x'.repeat(400)}`]: 'x' }, /longer than 300/],
  [
    'two paths that differ only in case',
    { 'agents/a/AGENTS.md': 'x', 'agents/A/AGENTS.md': 'x' },
    /same on some file systems/,
  ],
  [
    'two folders with the same slug',
    { 'agents/a b/AGENTS.md': 'x', 'agents/a-b/AGENTS.md': 'x' },
    /has the same slug a-b/,
  ],
  ['frontmatter that is a list', { 'agents/a/AGENTS.md': agent('- name: A') }, /agents\/a\/AGENTS\.md: .*mapping/],
  ['frontmatter that is a text', { 'agents/a/AGENTS.md': agent('just words') }, /mapping/],
  ['frontmatter that is not YAML', { 'agents/a/AGENTS.md': agent('name: "A') }, /not plain YAML/],
  ['a tag', { 'agents/a/AGENTS.md': agent('name: !!js/function "x"') }, /not plain YAML/],
  ['a bomb of aliases', { 'agents/a/AGENTS.md': agent(bomb()) }, /aliases|alias count/],
  ['a bomb of brackets', { '.service.yaml': `x: ${'['.repeat(50_000)}` }, /too many keys/],
  ['a key twice', { 'agents/a/AGENTS.md': agent('name: A\nname: B') }, /not plain YAML: Map keys must be unique/],
  ['20,000 keys', { 'agents/a/AGENTS.md': agent(manyKeys(20_001)) }, /too many keys/],
  ['more agents than an import may have', manyAgents(501), /has 501 agents; an import may have at most 500/],
  ['a YAML file that is too long', { '.service.yaml': `x: ${'y'.repeat(600_000)}` }, /longer than/],
  ['a key twice', { 'agents/a/AGENTS.md': agent('name: A\nname: B') }, /unique/],
  ['a name of 1,000 characters', { 'agents/a/AGENTS.md': agent(`name: ${'x'.repeat(1_000)}`) }, /at most 200/],
  ['a name with two lines', { 'agents/a/AGENTS.md': agent('name: "A\\nB"') }, /one line/],
  ['a name that is a list', { 'agents/a/AGENTS.md': agent('name: [A]') }, /must be a text/],
  ['a text that is not UTF-8', { 'agents/a/AGENTS.md': { encoding: 'base64', data: '/wD/' } }, /UTF-8/],
  ['an agent that reports to itself', { 'agents/a/AGENTS.md': agent('name: A\nreportsTo: a') }, /cycle: a -> a/],
  [
    'agents that report in a cycle',
    { 'agents/a/AGENTS.md': agent('reportsTo: b'), 'agents/b/AGENTS.md': agent('reportsTo: a') },
    /cycle: a -> b -> a/,
  ],
  ['an unknown manager', { 'agents/a/AGENTS.md': agent('reportsTo: nobody') }, /nobody/],
  ['an unknown assignee', { 'tasks/t/TASK.md': agent('name: T\nassignee: nobody') }, /assignee names the agent nobody/],
  ['a parent that is its own child', { 'tasks/t/TASK.md': agent('name: T\nparent: t') }, /cycle/],
  [
    'a negative budget',
    { 'agents/a/AGENTS.md': 'x', '.service.yaml': 'agents: {a: {budgetMonthlyCents: -1}}' },
    /budgetMonthlyCents/,
  ],
  ['an invalid schedule', { 'tasks/t/TASK.md': agent('name: T\nschedule: "99 99 * * *"') }, /cron expression/],
]

function manyKeys(count: number): string {
  return Array.from({ length: count }, (_, i) => `key${i}: 1`).join('\n')
}

function manyAgents(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`agents/a${i}/AGENTS.md`, `---\nname: A ${i}\n---\nWork.\n`]),
  )
}

function bomb(): string {
  const levels = 'abcdefgh'.split('')
  return levels.map((level, i) => `${level}: &${level} [${i === 0 ? 'x' : `*${levels[i - 1]},`.repeat(9)}]`).join('\n')
}

for (const [what, files, message] of HOSTILE) {
  test(`a package with ${what} is refused, and nothing is imported`, async (t) => {
    const app = createTestApp(t)
    await refuse(app, { source: { type: 'inline', files: { 'COMPANY.md': COMPANY, ...files } } }, message)
  })
}

test('one error lists all problems by file', async (t) => {
  const app = createTestApp(t)
  const files = { 'agents/a/AGENTS.md': agent('name: [A]'), 'agents/b/AGENTS.md': agent('- b') }
  const response = await app.request('POST', '/api/companies/import/preview', {
    source: inline(files),
    target: { mode: 'new_company' },
  })
  assert.deepEqual(
    response.body.details.fields.map((field: { path: string }) => field.path),
    ['agents/a/AGENTS.md', 'agents/b/AGENTS.md'],
  )
})

test('a package without a company is refused', async (t) => {
  const app = createTestApp(t)
  await refuse(app, { source: inline({ 'notes.txt': 'hello' }) }, /contains no company/)
})

test('a package with 10,001 files is refused', async (t) => {
  const app = createTestApp(t)
  const files = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`skills/x/${n}.md`, '']))
  await refuse(app, { source: inline(files) }, /more than 10000 files/)
})

test('names with emoji are imported unchanged, with a valid slug', async (t) => {
  const app = createTestApp(t)
  const files = { 'COMPANY.md': '---\nname: 🦭 Seals\n---\n', 'agents/🚀/AGENTS.md': agent('name: 🚀') }
  const target = { mode: 'new_company' }
  const plan = await app.make('POST', '/api/companies/import/apply', { source: inline(files), target })
  assert.equal(plan.target.companyName, '🦭 Seals')
  const [rocket] = (await app.request('GET', `/api/companies/${plan.target.companyId}/agents`)).body
  assert.deepEqual([rocket.name, rocket.urlKey], ['🚀', 'agent'])
})

const URLS: [string, string, RegExp][] = [
  ['github', 'http://github.com/a/b', /must be like https/],
  ['github', 'https://user:pass@github.com/a/b', /must be like https/],
  ['github', 'https://github.com.evil.example/a/b', /must be like https/],
  ['github', 'https://127.0.0.1/a/b', /must be like https/],
  ['github', 'file:///etc/passwd', /must be like https/],
  ['git', 'http://example.com/a.git', /must be an https URL/],
  ['git', 'file:///etc', /must be an https URL/],
  ['git', 'ssh://git@example.com/a', /must be an https URL/],
  ['git', 'ext::sh -c id', /must be an https URL/],
  ['git', '--upload-pack=id', /must be an https URL/],
  ['git', 'https://user:pass@example.com/a.git', /user name or a password/],
  ['git', 'https://token@example.com/a.git', /user name or a password/],
  ['git', 'https://example.com:22/a.git', /must not name a port/],
  ['git', 'https://127.0.0.1/a.git', /this machine or of a private network/],
  ['git', 'https://2130706433/a.git', /this machine or of a private network/],
  ['git', 'https://0x7f.1/a.git', /this machine or of a private network/],
  ['git', 'https://localhost/a.git', /this machine or of a private network/],
  ['git', 'https://[::1]/a.git', /this machine or of a private network/],
  ['git', 'https://[::ffff:10.0.0.1]/a.git', /this machine or of a private network/],
  ['git', 'https://10.1.2.3/a.git', /this machine or of a private network/],
  ['git', 'https://192.168.1.1/a.git', /this machine or of a private network/],
  ['git', 'https://169.254.169.254/latest', /this machine or of a private network/],
]

for (const [type, url, message] of URLS) {
  test(`a ${type} source at ${url} is refused`, async (t) => {
    const app = createTestApp(t)
    await refuse(app, { source: { type, url } }, message)
  })
}

test('loopback, private and link-local addresses are not public', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111']) assert.ok(isPublicAddress(address), address)
  const others = ['0.0.0.0', '100.64.0.1', '172.31.0.1', '224.0.0.1', '255.255.255.255', '::', 'fe80::1', 'fd00::1']
  for (const address of [...others, '64:ff9b::a00:1', '2002:a00:1::', '2001:20::1', '3fff::1', 'ff02::1', 'no']) {
    assert.ok(!isPublicAddress(address), address)
  }
})

test('a host name that resolves also to a private address is refused before the first request', async (t) => {
  let requested = 0
  const server = createServer(() => requested++).listen(0, '127.0.0.1')
  t.after(() => server.close())
  const lookup = async () => ['93.184.216.34', '10.0.0.7']
  const source = { url: 'https://both.example/a.git', ref: null, folder: '' }
  await assert.rejects(
    fetchRepository(source, { lookup, searchPath: process.env.PATH! }, PACKAGE_FILES),
    /private network/,
  )
  assert.equal(requested, 0)
})

test('a redirect from GitHub to another host is not followed', async () => {
  const requested: string[] = []
  const fetch = async (url: string) => {
    requested.push(url)
    return new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/latest' } })
  }
  const network = { fetch, lookup: async () => [], searchPath: '' }
  await assert.rejects(fetchPackage({ type: 'github', url: 'https://github.com/a/b' }, network), /a foreign host/)
  assert.deepEqual(requested, ['https://codeload.github.com/a/b/zip/HEAD'])
})

test('a GitHub package is read from the given folder, with its commit', async () => {
  const commit = 'a'.repeat(40)
  const zip = zipSync({ 'b-main/README.md': strToU8('x'), 'b-main/co/COMPANY.md': strToU8(COMPANY) })
  // GitHub stores the commit in the comment of the archive.
  const commented = Buffer.concat([zip, Buffer.from(commit)])
  commented.writeUInt16LE(commit.length, zip.length - 2)
  const network = { fetch: async () => new Response(commented), lookup: async () => [], searchPath: '' }
  const url = 'https://github.com/a/b/tree/main/co'
  const fetched = await fetchPackage({ type: 'github', url }, network)
  assert.deepEqual([...(fetched.files as SourceFiles).keys()], ['COMPANY.md'])
  assert.equal(fetched.commit, commit)
  assert.equal(fetched.warnings[0]?.code, 'unpinned_ref')
  const pinned = await fetchPackage({ type: 'github', url, ref: commit, path: 'co' }, network)
  assert.deepEqual(pinned.warnings, [])
})

test('300 MB of zeros in a zip are not unpacked', async () => {
  // 60 entries of 5 MB of zeros, 5 KB each when packed. They are packed once: packing takes longer than the test.
  const zeros = new Uint8Array(5_000_000)
  const packed = deflateRawSync(zeros)
  const parts: Uint8Array[] = []
  const archive = new Zip((_, data) => parts.push(data))
  for (let n = 0; n < 60; n++) {
    const entry: ZipInputFile = { filename: `skills/x/${n}`, size: zeros.length, crc: crc32(zeros), compression: 8 }
    archive.add(entry)
    entry.ondata!(null, packed, true)
  }
  archive.end()
  const zip = Buffer.concat(parts)
  const before = process.memoryUsage().rss
  await assert.rejects(() => readZip(zip, PACKAGE_FILES), /larger than 20000000 bytes together/)
  assert.ok(process.memoryUsage().rss - before < 200_000_000)
})

test('a zip entry that is larger than its declared size is refused', async () => {
  const zip = Buffer.from(zipSync({ 'a.txt': new Uint8Array(6_000_000) }))
  zip.writeUInt32LE(10, zip.indexOf('PK\x01\x02', 0, 'latin1') + 24)
  await assert.rejects(() => readZip(zip, PACKAGE_FILES), /larger than 5000000 bytes/)
})

test('a zip with a symbolic link, a path outside the folder, a duplicate path or a wrong checksum is refused', async () => {
  const link = { 'skills/x/key': [strToU8('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }] as const }
  await assert.rejects(() => readZip(zipSync(link as never), PACKAGE_FILES), /symbolic link/)
  await assert.rejects(() => readZip(zipSync({ '../x': strToU8('x') }), PACKAGE_FILES), /must not contain \.\./)
  const twice = Buffer.from(zipSync({ 'a.txt': strToU8('x'), 'b.txt': strToU8('y') }))
  for (let at = twice.indexOf('b.txt'); at >= 0; at = twice.indexOf('b.txt')) twice.write('a.txt', at)
  await assert.rejects(() => readZip(twice, PACKAGE_FILES), /twice/)
  const damaged = Buffer.from(zipSync({ 'a.txt': strToU8('hello') }, { level: 0 }))
  damaged.write('J', damaged.indexOf('hello'))
  await assert.rejects(() => readZip(damaged, PACKAGE_FILES), /damaged/)
  for (const none of [new Uint8Array(0), strToU8('no zip'), zipSync({ a: strToU8('x') }).subarray(0, 40)]) {
    await assert.rejects(() => readZip(none, PACKAGE_FILES), /not a zip archive|damaged/)
  }
})

test('a folder with a symbolic link is refused', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(path.join(folder, 'COMPANY.md'), COMPANY)
  symlinkSync('/etc/passwd', path.join(folder, 'LICENSE'))
  await assert.rejects(readFolder(folder, PACKAGE_FILES), /LICENSE: is a symbolic link/)
})

test('a repository is read without a checkout, and one with a symbolic link is refused', async (t) => {
  const folder = temporaryFolder(t)
  const searchPath = process.env.PATH!
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' })
      .toString()
      .trim()
  git('init', '--quiet')
  mkdirSync(path.join(folder, 'co'))
  writeFileSync(path.join(folder, 'co/COMPANY.md'), COMPANY)
  writeFileSync(path.join(folder, 'other.md'), 'x')
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  const { files, commit } = await readRepository(folder, 'HEAD', 'co', searchPath, PACKAGE_FILES)
  assert.equal(commit, git('rev-parse', 'HEAD'))
  assert.deepEqual(
    [...files].map(([file, bytes]) => [file, Buffer.from(bytes).toString()]),
    [['COMPANY.md', COMPANY]],
  )
  await assert.rejects(readRepository(folder, 'HEAD', 'nowhere', searchPath, PACKAGE_FILES), /git:/)
  symlinkSync('/etc/passwd', path.join(folder, 'co/LICENSE'))
  git('add', '.')
  git('commit', '--quiet', '-m', 'two')
  await assert.rejects(readRepository(folder, 'HEAD', 'co', searchPath, PACKAGE_FILES), /LICENSE: is a symbolic link/)
})

test('a package is read outside of the main thread', async (t) => {
  const { ctx } = createTestApp(t)
  const files = new Map([
    ['COMPANY.md', strToU8(COMPANY)],
    ['agents/a/AGENTS.md', strToU8(agent(`name: A\n${manyKeys(5_000)}`))],
  ])
  let isRead = false
  const reading = ctx.reader.runApart(readPackageJob, { files, folder: null }, READ_LIMITS).finally(() => {
    isRead = true
  })
  let turns = 0
  for (; !isRead; turns++) await nextTurn()
  assert.equal((await reading).content.agents[0]!.name, 'A')
  assert.ok(turns > 10, `the main thread had only ${turns} turns meanwhile`)
})

test('a skill of a package has the same size limit as other skills', async (t) => {
  const notes = Array.from({ length: 500 }, (_, i) => [`skills/tide/notes/${i}.md`, 'Low water.'])
  const files = {
    'COMPANY.md': '---\nname: Tern\n---\n',
    'skills/tide/SKILL.md': '---\nname: tide\n---\n',
    ...Object.fromEntries(notes),
  }
  await refuse(createTestApp(t), { source: inline(files) }, /more than 500 files/)
})
