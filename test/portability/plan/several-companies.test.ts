import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { repositoryZip } from '../../organization/skill/arrange.ts'
import { importNew, inline, refuse } from '../fixtures.ts'

const company = (name: string, folder = '') => ({ [`${folder}COMPANY.md`]: `---\nname: ${name}\nlicense: MIT\n---\n` })
const TWO = { ...company('Otter', 'repo-1/otter/'), ...company('Walrus', 'repo-1/walrus/'), 'repo-1/README.md': 'x' }
const TARGET = { target: { mode: 'new_company' } }

test('a source with several companies is refused, and the error lists them', async (t) => {
  const app = createTestApp(t)
  await refuse(
    app,
    { source: inline(TWO) },
    /2 companies: repo-1\/otter, repo-1\/walrus\. Choose one with source.rootPath/,
  )
  const { body } = await app.request('POST', '/api/companies/import/preview', { source: inline(TWO), ...TARGET })
  assert.deepEqual(body.details.companies, [
    { path: 'repo-1/otter', name: 'Otter' },
    { path: 'repo-1/walrus', name: 'Walrus' },
  ])
})

for (const rootPath of ['repo-1/walrus', 'walrus', '/walrus/', './walrus']) {
  test(`rootPath ${rootPath} selects one of the companies`, async (t) => {
    const app = createTestApp(t)
    const { target } = await importNew(app, TWO, { source: { ...inline(TWO), rootPath } })
    assert.equal(target.companyName, 'Walrus')
  })
}

test('a rootPath without files is refused', async (t) => {
  const app = createTestApp(t)
  await refuse(app, { source: { ...inline(TWO), rootPath: 'nowhere' } }, /no files below nowhere/)
  await refuse(app, { source: { ...inline(TWO), rootPath: '../repo-1' } }, /no files below/)
})

test('the companies in a repository are listed with paths from its root, below the folder of the URL', async (t) => {
  const app = createTestApp(t)
  const files = { ...company('Otter', 'all/otter/'), ...company('Walrus', 'all/walrus/') }
  t.mock.method(globalThis, 'fetch', async () => new Response(Buffer.from(repositoryZip(files))))
  const source = { type: 'github', url: 'https://github.com/a/b/tree/main/all' }
  const { status, body } = await app.request('POST', '/api/companies/import/preview', { source, ...TARGET })
  assert.equal(status, 422)
  const [, walrus] = body.details.companies
  assert.deepEqual(walrus, { path: 'all/walrus', name: 'Walrus' })
  const plan = await app.make('POST', '/api/companies/import/preview', {
    source: { ...source, path: walrus.path },
    ...TARGET,
  })
  assert.equal(plan.target.companyName, 'Walrus')
})

test('a company inside another company is part of its files', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, { ...company('Otter'), ...company('Example', 'examples/a/') })
  assert.equal(target.companyName, 'Otter')
})
