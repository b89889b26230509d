import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fetchArchive, parseGithubUrl } from '../../../src/platform/source/github.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'
import { makeCompany } from '../../make.ts'
import { repositoryZip, skillText } from './arrange.ts'

test('the board imports a local folder; the import ignores links and reads no other files', async (t) => {
  const app = createTestApp(t)
  const url = `/api/companies/${await makeCompany(app)}/skills/import`
  const folder = temporaryFolder(t)
  const outside = temporaryFolder(t)
  writeFileSync(path.join(outside, 'secret.md'), 'secret')
  const put = (file: string, content: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
  put('ink/SKILL.md', skillText('ink'))
  put('ink/references/a.md', 'a')
  put('ink/node_modules/x/index.js', 'x')
  put('huge.bin', '')
  truncateSync(path.join(folder, 'huge.bin'), 100 * 1024 * 1024)
  symlinkSync(path.join(outside, 'secret.md'), path.join(folder, 'ink/secret.md'))
  symlinkSync(outside, path.join(folder, 'ink/outside'))
  symlinkSync('/etc', path.join(folder, 'etc'))
  const { imported, warnings } = await app.make('POST', url, { path: folder })
  assert.deepEqual(
    imported[0].fileInventory.map((file: { path: string }) => file.path),
    ['SKILL.md', 'references/a.md'],
  )
  assert.deepEqual([imported[0].key, imported[0].sourceType, imported[0].sourceLocator], ['ink', 'local_path', folder])
  assert.deepEqual(warnings, [
    'ink/outside is a symbolic link and was ignored.',
    'ink/secret.md is a symbolic link and was ignored.',
  ])
})

test('a skill without frontmatter is named after its folder', async (t) => {
  const app = createTestApp(t)
  const url = `/api/companies/${await makeCompany(app)}/skills/import`
  const folder = path.join(temporaryFolder(t), 'Tide Tables')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'SKILL.md'), '# Tides\n')
  const { imported } = await app.make('POST', url, { path: folder })
  assert.deepEqual([imported[0].key, imported[0].name, imported[0].description], ['tide-tables', 'Tide Tables', null])
})

test('refuses a path that is not a folder, or a folder with no skill or a too large file', async (t) => {
  const app = createTestApp(t)
  const url = `/api/companies/${await makeCompany(app)}/skills/import`
  const folder = temporaryFolder(t)
  const message = async (place: string) => {
    const { status, body } = await app.request('POST', url, { path: place })
    assert.equal(status, 422)
    return body.error
  }
  assert.match(await message(path.join(folder, 'missing')), /no such folder/)
  assert.match(await message(folder), /no SKILL\.md/)
  writeFileSync(path.join(folder, 'SKILL.md'), skillText('x'))
  assert.match(await message(path.join(folder, 'SKILL.md')), /cannot be read as a folder/)
  writeFileSync(path.join(folder, 'big.md'), '')
  truncateSync(path.join(folder, 'big.md'), 1024 * 1024 + 1)
  assert.match(await message(folder), /big\.md: is larger/)
})

test('imports a GitHub repository from a folder and ref, with keys of the repository', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const requested: string[] = []
  const zip = repositoryZip({
    'README.md': 'x',
    'skills/ink/SKILL.md': skillText('ink'),
    'skills/ink/a.md': 'a',
    'skills/ink/passwd': '-> /etc/passwd',
    'other/SKILL.md': skillText('other'),
  })
  t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
    requested.push(url)
    assert.equal(init.redirect, 'manual')
    return new Response(zip as Uint8Array<ArrayBuffer>)
  })
  const source = { type: 'github', url: 'https://github.com/Tern/Skills.git', ref: 'v1.2', folder: 'skills' }
  const { imported, warnings } = await app.make('POST', `/api/companies/${companyId}/skills/import`, { source })
  assert.deepEqual(requested, ['https://codeload.github.com/Tern/Skills/zip/v1.2'])
  assert.equal(imported.length, 1)
  assert.deepEqual(
    [imported[0].key, imported[0].slug, imported[0].sourceType, imported[0].sourceLocator, imported[0].sourceRef],
    ['tern/skills/ink', 'ink', 'github', 'https://github.com/Tern/Skills/tree/v1.2/skills', 'v1.2'],
  )
  assert.deepEqual(
    imported[0].fileInventory.map((file: { path: string }) => file.path),
    ['SKILL.md', 'a.md'],
  )
  assert.deepEqual(warnings, ['ink/passwd is a symbolic link and was ignored.'])
  const again = { type: 'github', url: imported[0].sourceLocator }
  const second = await app.make('POST', `/api/companies/${companyId}/skills/import`, { source: again })
  assert.equal(second.imported[0].outcome, 'unchanged')
})

test('a repository of deep folders does not block the server while the files of skills are selected', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const deep = Array.from({ length: 400 }, (_, n) => [`${'a/'.repeat(2_000)}${n}`, 'x'])
  const zip = repositoryZip({ ...Object.fromEntries(deep), '/x': 'x', 'ink/SKILL.md': skillText('ink') })
  t.mock.method(globalThis, 'fetch', async () => new Response(zip))
  const began = process.threadCpuUsage()
  const { imported } = await app.make('POST', `/api/companies/${companyId}/skills/import`, { source: 'tide/tools' })
  assert.deepEqual(
    imported.map((skill: { slug: string }) => skill.slug),
    ['ink'],
  )
  // Comparing every folder of each path took 18 s.
  const { user, system } = process.threadCpuUsage(began)
  assert.ok(user + system < 5_000_000, `${user + system} µs`)
})

test('refuses an archive that is corrupt or declares a too small size', async (t) => {
  const app = createTestApp(t)
  const url = `/api/companies/${await makeCompany(app)}/skills/import`
  const bomb = repositoryZip({ 'SKILL.md': skillText('x'), 'a.txt': 'a'.repeat(900_000) })
  const lying = new Uint8Array(bomb)
  // The size of the last entry, in the central directory and in the local header.
  const central = Buffer.from(lying.buffer).lastIndexOf('PK\x01\x02')
  const local = Buffer.from(lying.buffer).lastIndexOf('PK\x03\x04')
  for (const at of [central + 24, local + 22]) new DataView(lying.buffer).setUint32(at, 10, true)
  const twice = new Uint8Array(repositoryZip({ 'SKILL.md': skillText('x'), 'a.md': 'x', 'b.md': 'x' }))
  const named = Buffer.from(twice.buffer)
  for (let at = named.indexOf('b.md'); at >= 0; at = named.indexOf('b.md')) named.write('a.md', at)
  const archives = [
    twice,
    new Uint8Array(0),
    new Uint8Array(40),
    bomb.subarray(0, -30),
    lying,
    Buffer.from('PK\x05\x06'.padEnd(30)),
  ]
  let next: Uint8Array = archives[0]!
  t.mock.method(globalThis, 'fetch', async () => new Response(next as Uint8Array<ArrayBuffer>))
  for (const archive of archives) {
    next = archive
    const source = { type: 'github', url: 'https://github.com/a/b' }
    const { status, body } = await app.request('POST', url, { source })
    assert.equal(status, 422, JSON.stringify(body).slice(0, 300))
  }
})

for (const url of [
  'http://github.com/a/b',
  'https://github.com:8443/a/b',
  'https://user:pw@github.com/a/b',
  'https://github.com.evil.example/a/b',
  'https://evil.example/github.com/a/b',
  'https://127.0.0.1/a/b',
  'https://[::1]/a/b',
  'https://169.254.169.254/latest/meta-data',
  'https://raw.githubusercontent.com/a/b',
  'file:///etc/passwd',
  'ftp://github.com/a/b',
  'https://github.com/a',
  'https://github.com/a/..',
  'https://github.com/a/%2e%2e',
  'https://github.com/a/b?x=1',
  'https://github.com/a/b/blob/main/x',
  'https://github.com/a/b/tree/',
  'https://github.com/a%2Fb/c',
  'https://github.com/a/%',
  'github.com/a/b',
]) {
  test(`refuses ${url} as a repository, and sends no request`, async (t) => {
    const app = createTestApp(t)
    const fetched = t.mock.method(globalThis, 'fetch', async () => new Response(''))
    const source = { type: 'github', url }
    const path = `/api/companies/${await makeCompany(app)}/skills/import`
    assert.equal((await app.request('POST', path, { source })).status, 422)
    assert.equal(fetched.mock.callCount(), 0)
  })
}

test('refuses a ref or folder that escapes the repository', () => {
  const url = 'https://github.com/a/b'
  for (const ref of ['../x', '-x', 'a..b', '/x', 'x/', 'a b', 'a?b', 'a%2fb', '']) {
    assert.throws(() => parseGithubUrl({ url, ref }), { code: 'semantic' }, ref)
  }
  for (const folder of ['..', 'a/../b', '.']) {
    assert.throws(() => parseGithubUrl({ url, folder }), { code: 'semantic' }, folder)
  }
  assert.deepEqual(parseGithubUrl({ url: `${url}/tree/main/x/y` }), {
    owner: 'a',
    repo: 'b',
    ref: 'main',
    folder: 'x/y',
  })
  assert.deepEqual(parseGithubUrl({ url, ref: 'feature/x' }).ref, 'feature/x')
})

const REPOSITORY = { owner: 'a', repo: 'b', ref: null, folder: '' }

test('follows redirects to GitHub hosts only', async () => {
  const redirectTo = (location: string) => async (url: string) =>
    url.includes('/zip/') ? new Response(null, { status: 302, headers: { location } }) : new Response('zip')
  const good = await fetchArchive(REPOSITORY, redirectTo('https://codeload.github.com/a/b/legacy'))
  assert.equal(Buffer.from(good).toString(), 'zip')
  for (const location of [
    'http://codeload.github.com/x',
    'https://evil.example/',
    'http://127.0.0.1/',
    '//[::1]/',
    '',
  ]) {
    await assert.rejects(fetchArchive(REPOSITORY, redirectTo(location)), /redirects/, location)
  }
  const round = async () => new Response(null, { status: 302, headers: { location: 'https://github.com/a' } })
  await assert.rejects(fetchArchive(REPOSITORY, round), /too many times/)
})

test('reports GitHub errors, network errors and too large archives', async () => {
  const fetchWith = (response: () => Response) => fetchArchive(REPOSITORY, async () => response())
  await assert.rejects(
    fetchWith(() => new Response('', { status: 404 })),
    /no such public repository/,
  )
  await assert.rejects(
    fetchWith(() => new Response('', { status: 429 })),
    /status 429/,
  )
  await assert.rejects(
    fetchArchive(REPOSITORY, async () => {
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ENOTFOUND' } })
    }),
    /could not be reached \(ENOTFOUND\)/,
  )
  let isCancelled = false
  const chunk = new Uint8Array(1024 * 1024)
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(chunk),
    cancel: () => {
      isCancelled = true
    },
  })
  await assert.rejects(
    fetchWith(() => new Response(endless)),
    /larger than/,
  )
  assert.ok(isCancelled)
})
