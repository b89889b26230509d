import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { findIssuesJob } from '../../../src/work/issue/find.ts'
import type { IssueCursor } from '../../../src/work/issue/list.ts'
import { setUp } from './set-up.ts'

const WORDS = ['alpha', 'alpine', 'beta', 'gamma', 'delta', 'omega', 'Éclair', 'éclat', 'x-ray', 'ray']

/** Returns words in a pseudo-random but fixed order. */
function createPicker() {
  let state = 7
  return (most: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * most)
  }
}

test('the list and the search index return the same issues on every page', async (t) => {
  const { ctx, company, create, make } = await setUp(t)
  const pick = createPicker()
  const text = (words: number) => Array.from({ length: words }, () => WORDS[pick(WORDS.length)]).join(' ')
  const documents: { identifier: string; texts: string[] }[] = []
  for (let n = 0; n < 150; n++) {
    const priority = ['critical', 'high', 'medium', 'low'][pick(4)]
    const [title, description] = [text(1 + pick(2)), text(pick(3))]
    const issue = await create({ title, description, priority })
    const texts = [title, description, issue.identifier]
    if (n % 3 === 0) {
      const body = text(2)
      await make('POST', `/api/issues/${issue.id}/comments`, { body })
      texts.push(body)
    }
    documents.push({ identifier: issue.identifier, texts })
  }
  for (const q of [
    'alp',
    'alpha beta',
    'x-ray',
    'ray x',
    'ecla',
    'eclair alpine',
    'wal-1',
    'gamma delta omega',
    'nothing alpha',
  ]) {
    const want = { filter: { companyId: company.id }, q, limit: 7 }
    const pages = (count: boolean) => {
      const seqs: number[] = []
      for (let after: IssueCursor | undefined; ; ) {
        const found = findIssuesJob.run(ctx.db, { ...want, after, count }, () => {})
        const page = found.seqs.slice(0, want.limit)
        seqs.push(...page)
        if (found.seqs.length <= want.limit) return { seqs, total: found.total }
        const last = issueOf(page.at(-1)!)
        after = [last.priority_rank, last.id]
      }
    }
    const [fromList, fromIndex] = [pages(false), pages(true)]
    assert.deepEqual(fromList.seqs, fromIndex.seqs, q)
    assert.equal(fromIndex.total, fromIndex.seqs.length, q)
    const expected = documents.filter(({ texts }) =>
      q.split(' ').every((word) => texts.some((one) => containsStart(one, word))),
    )
    assert.deepEqual(
      fromList.seqs.map((seq) => issueOf(seq).identifier).sort(),
      expected.map(({ identifier }) => identifier).sort(),
      q,
    )
  }
  function issueOf(seq: number) {
    return ctx.db.all(sql.selectFrom('issue').selectAll().where('seq', '=', seq))[0]!
  }
})

/** Reports whether a word of the text starts with the given word. */
function containsStart(text: string, word: string): boolean {
  const plain = (value: string) =>
    ` ${value.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('-', ' ')}`
  return plain(text).includes(plain(word))
}
