import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { termsOf } from '../../../src/work/issue/words.ts'
import { setUp } from './set-up.ts'

async function setUpSearch(t: Parameters<typeof setUp>[0]) {
  const app = await setUp(t)
  const find = async (q: string): Promise<string[]> => {
    const { status, body } = await app.request('GET', `${app.issues}?q=${encodeURIComponent(q)}`)
    assert.equal(status, 200, q)
    return body.map((issue: { identifier: string }) => issue.identifier).sort()
  }
  return { ...app, find }
}

test('a search matches issues that contain every word, in the title, description, identifier or a comment', async (t) => {
  const { create, make, find } = await setUpSearch(t)
  const issue = await create({ title: 'Login fails', description: 'On old telephones' })
  await create({ title: 'Login page is ugly' })
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'The session cookie is **too large**' })
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Confirmed' })
  assert.deepEqual(await find('login'), ['WAL-1', 'WAL-2'])
  assert.deepEqual(await find('login telephones cookie confirmed'), ['WAL-1'])
  assert.deepEqual(await find('login cookie ugly'), [])
  assert.deepEqual(await find('LOG tele'), ['WAL-1'])
})

test('a search finds an issue by its identifier in any case', async (t) => {
  const { create, find } = await setUpSearch(t)
  await create({ title: 'One' })
  await create({ title: 'Two, see WAL-1' })
  assert.deepEqual(await find('wal-2'), ['WAL-2'])
  assert.deepEqual(await find('WAL-1'), ['WAL-1', 'WAL-2'])
})

test('a search uses the current text of an issue, not the earlier text', async (t) => {
  const { create, patch, find } = await setUpSearch(t)
  const issue = await create({ title: 'Walrus' })
  await patch(issue, { title: 'Seal' })
  assert.deepEqual(await find('walrus'), [])
  assert.deepEqual(await find('seal'), ['WAL-1'])
})

test('a search ignores accents and case, and supports other scripts', async (t) => {
  const { create, find } = await setUpSearch(t)
  await create({ title: 'Café für Überläufer' })
  await create({ title: 'Проверка входа' })
  assert.deepEqual(await find('cafe uberlaufer'), ['WAL-1'])
  assert.deepEqual(await find('ВХОДА'), ['WAL-2'])
})

test('a search treats the query syntax of the index as plain text', async (t) => {
  const { create, find } = await setUpSearch(t)
  await create({ title: 'Say "hello" NOT goodbye (title: x) AND* ^y {z} NEAR(a b)' })
  const texts = ['"hello', 'hello"', 'NOT goodbye', 'title:', 'AND', 'NEAR(a', '(title:', 'AND*', '^y', '{z}', "x'--"]
  for (const text of texts) assert.deepEqual(await find(text), ['WAL-1'], text)
  assert.deepEqual(await find('"hello goodbye"'), ['WAL-1'])
  assert.deepEqual(await find('OR'), [])
})

test('a search without letters or digits finds nothing, and a blank search finds all issues', async (t) => {
  const { create, find } = await setUpSearch(t)
  await create()
  assert.deepEqual(await find('"* ☃'), [])
  assert.deepEqual(await find('   '), ['WAL-1'])
})

test('a search with a filter returns issues that match both', async (t) => {
  const { create, request, issues } = await setUpSearch(t)
  await create({ title: 'apple', status: 'blocked' })
  await create({ title: 'apple' })
  const { body, headers } = await request('GET', `${issues}?q=apple&status=blocked&count=true`)
  assert.equal(body.length, 1)
  assert.equal(headers.get('x-total-count'), '1')
})

test('every search text returns a response, and each word of an issue finds it', async (t) => {
  const { create, find } = await setUpSearch(t)
  await create({ title: 'needle', description: 'in the "haystack" of -- words*' })
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (q) => {
      const found = await find(q)
      if (termsOf(q).length === 0 && q.trim() !== '') assert.deepEqual(found, [])
      assert.ok((await find(`needle ${q.replaceAll(/[\p{L}\p{N}]/gu, '')}`)).includes('WAL-1'))
    }),
    { numRuns: 200 },
  )
})
