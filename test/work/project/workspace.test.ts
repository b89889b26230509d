import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const project = await app.make('POST', `/api/companies/${people.company.id}/projects`, { name: 'Website' })
  const path = `/api/projects/${project.id}/workspaces`
  const workspace = (body: object) => app.make('POST', path, body)
  /** Returns the names of the primary workspaces: exactly one if the project has workspaces. */
  const primary = async () =>
    (await app.request('GET', path)).body
      .filter((one: { isPrimary: boolean }) => one.isPrimary)
      .map((one: { name: string }) => one.name)
      .join()
  return { ...app, ...people, app, project, path, workspace, primary }
}

test('a workspace requires cwd or repoUrl', async (t) => {
  const { request, path, workspace } = await arrange(t)
  for (const body of [{}, { name: 'x' }, { cwd: null, repoUrl: null }, { repoRef: 'main' }]) {
    const response = await request('POST', path, body)
    assert.equal(response.status, 400)
    assert.match(response.body.error, /cwd or repoUrl/)
  }
  const made = await workspace({ repoUrl: 'git@example.com:acme/site.git', repoRef: 'main' })
  assert.equal(made.cwd, null)
  assert.equal(made.name, 'site')
  assert.equal((await request('PATCH', `${path}/${made.id}`, { repoUrl: null })).status, 422)
  const moved = await request('PATCH', `${path}/${made.id}`, { repoUrl: null, cwd: '/srv/site' })
  assert.equal(moved.body.cwd, '/srv/site')
})

for (const cwd of ['relative', './x', '', '/a\0b', '/a\nb', '~/x']) {
  test(`a workspace with cwd ${JSON.stringify(cwd)} is refused`, async (t) => {
    const { request, path } = await arrange(t)
    assert.equal((await request('POST', path, { cwd })).status, 400)
  })
}

test('a repository URL must use https, ssh or git@', async (t) => {
  const { request, path } = await arrange(t)
  const good = [
    'https://example.com/acme/site',
    'https://example.com:8443/acme/site.git',
    'ssh://git@example.com/acme/site.git',
    'ssh://example.com:22/~acme/site.git',
    'git@example.com:acme/site.git',
  ]
  const bad = [
    'http://example.com/acme/site',
    'file:///etc',
    '/srv/repo',
    '../repo',
    'ext::sh -c id',
    '--upload-pack=id',
    '-oProxyCommand=id',
    'git@-oProxyCommand=id:x',
    'git@example.com:-x',
    'ssh://-oProxyCommand=id/x',
    'ssh://-x@example.com/x',
    'https://token@example.com/acme/site',
    'https://user:secret@example.com/acme/site',
    'ssh://git:secret@example.com/acme/site',
    'https://example.com/acme/site?token=secret',
    'https://example.com/acme/site#x',
    'https://example.com',
    'https://example.com/a b',
    'https://example.com/a\nb',
  ]
  for (const repoUrl of good) assert.equal((await request('POST', path, { repoUrl })).status, 201, repoUrl)
  for (const repoUrl of bad) assert.equal((await request('POST', path, { repoUrl })).status, 400, repoUrl)
})

test('a reference must not look like a git option', async (t) => {
  const { request, path } = await arrange(t)
  for (const repoRef of ['main', 'feature/grün', 'v1.2.3', 'refs/heads/x', '4b825dc']) {
    assert.equal((await request('POST', path, { cwd: '/srv', repoRef })).status, 201, repoRef)
  }
  for (const repoRef of ['-x', '--upload-pack=id', '', 'a b', 'a..b', 'a\0', 'x:y', 'a@{1}', '/a', 'a/']) {
    assert.equal((await request('POST', path, { cwd: '/srv', repoRef })).status, 400, repoRef)
  }
})

test('the first workspace is primary, and a later workspace can replace it', async (t) => {
  const { workspace, primary, request, path, project } = await arrange(t)
  await workspace({ name: 'a', cwd: '/a', isPrimary: false })
  assert.equal(await primary(), 'a')
  const b = await workspace({ name: 'b', cwd: '/b' })
  assert.equal(await primary(), 'a')
  await request('PATCH', `${path}/${b.id}`, { isPrimary: true })
  assert.equal(await primary(), 'b')
  await workspace({ name: 'c', cwd: '/c', isPrimary: true })
  assert.equal(await primary(), 'c')
  const read = (await request('GET', `/api/projects/${project.id}`)).body
  assert.equal(read.primaryWorkspace.name, 'c')
  assert.equal(read.workspaces.length, 3)
})

test('the primary flag of the primary workspace cannot be cleared', async (t) => {
  const { workspace, request, path, primary } = await arrange(t)
  const a = await workspace({ name: 'a', cwd: '/a' })
  assert.equal((await request('PATCH', `${path}/${a.id}`, { isPrimary: false })).status, 422)
  assert.equal(await primary(), 'a')
})

test('deleting the primary workspace makes the oldest other workspace primary', async (t) => {
  const { workspace, request, path, primary } = await arrange(t)
  const made = []
  for (const name of ['a', 'b', 'c']) made.push(await workspace({ name, cwd: `/${name}` }))
  await request('DELETE', `${path}/${made[1].id}`)
  assert.equal(await primary(), 'a')
  assert.equal((await request('DELETE', `${path}/${made[0].id}`)).body.name, 'a')
  assert.equal(await primary(), 'c')
  assert.equal((await request('GET', `${path}/${made[0].id}`)).status, 404)
})

test('a workspace can be read only under its own project and in its own company', async (t) => {
  const { app, workspace, request, stranger, path, company, project } = await arrange(t)
  const { warnings: _, ...made } = await workspace({ cwd: '/a' })
  const beside = await app.make('POST', `/api/companies/${company.id}/projects`, { name: 'Beside' })
  assert.equal((await request('GET', `/api/projects/${beside.id}/workspaces/${made.id}`)).status, 404)
  assert.equal((await request('DELETE', `/api/projects/${beside.id}/workspaces/${made.id}`)).status, 404)
  assert.equal((await stranger.request('GET', path)).status, 404)
  assert.equal((await stranger.request('PATCH', `${path}/${made.id}`, { name: 'x' })).status, 404)
  assert.deepEqual((await request('GET', `/api/projects/${project.urlKey}/workspaces?companyId=${company.id}`)).body, [
    made,
  ])
})
