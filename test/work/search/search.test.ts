import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { createMatcher } from '../../../src/work/issue/words.ts'
import { insertAgent, insertGoal, insertManyIssues, insertProject } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

async function withThings(t: TestContext) {
  const app = await setUp(t)
  const of = { company_id: app.company.id }
  insertProject(app.ctx, { ...of, name: 'Billing portal' })
  insertGoal(app.ctx, { ...of, title: 'Bill every customer' })
  insertAgent(app, { ...of, name: 'Bill Müller', role: 'engineer', title: 'Café owner' })
  const issue = await app.create({ title: 'Fix the billing page', description: 'It shows no cents.' })
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: 'The bill of May has it too.' })
  const search = async (q: string, more = '') =>
    (await app.request('GET', `/api/companies/${app.company.id}/search?q=${encodeURIComponent(q)}${more}`)).body
  return { ...app, issue, search }
}

test('a search finds issues, comments, agents, projects and goals', async (t) => {
  const { search, issue } = await withThings(t)
  const found = await search('bill')
  assert.equal(found.query, 'bill')
  assert.deepEqual(found.issues, [
    {
      ...{ id: issue.id, identifier: issue.identifier, title: issue.title },
      ...{ status: 'todo', priority: 'medium', assigneeAgentId: null },
    },
  ])
  assert.deepEqual([found.comments.length, found.comments[0].identifier], [1, issue.identifier])
  assert.match(found.comments[0].snippet, /The bill of May/)
  assert.deepEqual(
    [found.agents[0].name, found.projects[0].name, found.goals[0].title],
    ['Bill Müller', 'Billing portal', 'Bill every customer'],
  )
})

test('a result contains all words of the query as word prefixes, ignoring case and accents', async (t) => {
  const { search } = await withThings(t)
  for (const q of ['bill mull', 'MÜLLER', 'cafe', 'engin bill']) assert.equal((await search(q)).agents.length, 1, q)
  for (const q of ['ill', 'bill nobody', 'uller']) assert.equal((await search(q)).agents.length, 0, q)
  assert.equal((await search('cents bill')).issues.length, 1)
  assert.equal((await search('cents may')).issues.length, 0)
})

test('an identifier returns its issue as the first result', async (t) => {
  const { search, create } = await withThings(t)
  for (let n = 0; n < 10; n++) await create({ title: `See WAL-1, part ${n}` })
  assert.equal((await search('wal-1', '&limit=3')).issues[0].identifier, 'WAL-1')
})

test('the limit applies to each kind of result', async (t) => {
  const { search, create, request, company } = await withThings(t)
  for (let n = 0; n < 12; n++) await create({ title: `Bill ${n}` })
  assert.equal((await search('bill')).issues.length, 10)
  assert.deepEqual(
    (await search('bill', '&limit=2')).issues.map((issue: { title: string }) => issue.title),
    ['Bill 11', 'Bill 10'],
  )
  for (const query of ['', '?q=x&limit=0', '?q=x&limit=51']) {
    assert.equal((await request('GET', `/api/companies/${company.id}/search${query}`)).status, 400, query)
  }
})

test('a search accepts any text, and text without words finds nothing', async (t) => {
  const { search } = await withThings(t)
  for (const q of [
    '',
    ' ',
    '"',
    '*',
    '" OR "',
    'bill" OR "x',
    '(',
    "'; drop table issue",
    'NEAR(a b)',
    '\u{1f600}',
    'a:b',
  ]) {
    assert.deepEqual((await search(q)).issues, [], q)
  }
})

test('a search never returns results of another company', async (t) => {
  const { request, make } = await withThings(t)
  const other = await make('POST', '/api/companies', { name: 'Other' })
  const { body } = await request('GET', `/api/companies/${other.id}/search?q=bill`)
  assert.deepEqual(body, { query: 'bill', issues: [], comments: [], agents: [], projects: [], goals: [] })
  assert.deepEqual((await request('GET', `/api/companies/${other.id}/search?q=WAL-1`)).body.issues, [])
})

test('complete words rank above word prefixes', async (t) => {
  const { search, create } = await withThings(t)
  await create({ title: 'Bill' })
  await create({ title: 'Billing' })
  const titles = (await search('bill')).issues.map((issue: { title: string }) => issue.title)
  assert.deepEqual(titles, ['Bill', 'Billing', 'Fix the billing page'])
})

test('a search in a long comment that repeats one word is fast', async (t) => {
  const { search, issue, make } = await withThings(t)
  for (const word of ['zz ', 'zz '])
    await make('POST', `/api/issues/${issue.id}/comments`, { body: word.repeat(16_000) })
  const started = performance.now()
  const { comments } = await search('zz')
  assert.equal(comments.length, 2)
  assert.ok(comments[0].snippet.length < 500, comments[0].snippet)
  // The function snippet() of FTS5 takes more than 8 s for this comment.
  assert.ok(performance.now() - started < 4_000)
})

test('a snippet shows the words around the match, also late in a long comment', async (t) => {
  const { search, issue, make } = await withThings(t)
  const body = `${'before '.repeat(500)}the Nêedle is here ${'after '.repeat(500)}`
  await make('POST', `/api/issues/${issue.id}/comments`, { body })
  const { snippet } = (await search('needle')).comments[0]
  assert.match(snippet, /^…(before )+the Nêedle is here (after ?)+…$/)
  assert.ok(snippet.length < 200, snippet)
})

test('a search finds text immediately after it is written', async (t) => {
  const { search, create, request, issues } = await withThings(t)
  for (let n = 0; n < 20; n++) {
    const issue = await create({ title: `Fresh word${n}x` })
    assert.equal((await search(`word${n}x`)).issues[0]?.id, issue.id)
    assert.equal((await request('GET', `${issues}?q=word${n}x`)).body[0]?.id, issue.id)
  }
})

/** Creates issues by SQL. The expression of a title may use `n`, the number of the issue. */
async function withTitles(t: TestContext, count: number, title: string) {
  const app = await withThings(t)
  await app.ctx.write(() => {
    insertManyIssues(app.ctx, app.ada, count)
    const values = `update issue set title = (select ${title} from (select issue.issue_number as n))`
    app.ctx.db.run(raw`${raw.raw(values)} where identifier like 'BIG-%'`.compile(sql))
  })
  const titles = async (q: string, limit = 50): Promise<string[]> =>
    (await app.search(q, `&limit=${limit}`)).issues.map((issue: { title: string }) => issue.title)
  return { ...app, titles }
}

test('a search finds every issue with a word that begins with the query, newest first', async (t) => {
  const words = ['pump', 'pumps', 'pumping', 'pumpkin', 'pum', 'Pumpe', 'púmpol', 'tide', 'tidetable', 'tidal']
  const list = `json_array(${words.map((word) => `'${word}'`).join(', ')})`
  const title = `json_extract(${list}, '$[' || (n % 10) || ']') || ' ' || json_extract(${list}, '$[' || (n / 10) || ']')`
  const { titles, ctx } = await withTitles(t, 99, title)
  const all = ctx.db.all(sql.selectFrom('issue').select('title').orderBy('seq', 'desc')).map((row) => row.title)
  for (const q of [
    'pumping',
    'pumpk',
    'pumps ti',
    'tidet pumpki',
    'tid pumpo',
    'tidal tidet',
    'pump tidexyz',
    'pumpe',
  ]) {
    const matchesOf = createMatcher(q.split(' '))
    const expected = all.filter((title) => matchesOf(title).every(Boolean))
    assert.ok(expected.length < 50, q)
    const found = await titles(q)
    assert.deepEqual(found.toSorted(), expected.toSorted(), q)
    const isComplete = (title: string) => q.split(' ').every((word) => title.toLowerCase().split(' ').includes(word))
    const ranked = [...expected.filter(isComplete), ...expected.filter((title) => !isComplete(title))]
    assert.deepEqual(found, ranked, q)
  }
})

test('a search by the beginning of hundreds of words finds them, newest first', async (t) => {
  const { titles } = await withTitles(t, 300, "'crane' || n")
  const newest = (from: number, count: number) => Array.from({ length: count }, (_, i) => `crane${from - i}`)
  assert.deepEqual(await titles('cran'), newest(300, 50))
  assert.deepEqual(await titles('crane2', 3), ['crane2', ...newest(299, 2)])
  assert.deepEqual(await titles('crane7'), ['crane7', ...newest(79, 10)], 'the oldest issues too')
})

test('an old issue with the words in its title ranks above newer ones with the words elsewhere', async (t) => {
  const { search, create } = await withThings(t)
  await create({ title: 'Harbour crane' })
  for (let n = 0; n < 6; n++) await create({ title: `Harbour ${n}`, description: 'The crane and the cranes.' })
  const titles = async (q: string, limit: number) =>
    (await search(q, `&limit=${limit}`)).issues.map((issue: { title: string }) => issue.title)
  assert.deepEqual(await titles('crane HARBOUR', 3), ['Harbour crane', 'Harbour 5', 'Harbour 4'], 'a full page')
  assert.deepEqual((await titles('crane HARBOUR', 50)).slice(0, 2), ['Harbour crane', 'Harbour 5'], 'all matches')
})
