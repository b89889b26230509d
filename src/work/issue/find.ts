import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { countEntries, listCommentTexts, listIssuesWith } from './find-queries.ts'
import type { IssueRow } from './issue.ts'
import { countIssues, cursorOf, type IssueCursor, type IssueFilter, listIssues, listIssuesBySeq } from './list.ts'
import { createMatcher, prefixPattern, termsOf } from './words.ts'

export interface FindIssues {
  filter: IssueFilter
  /** The search words, if any. Each must be in the title, the identifier, the description or a comment. */
  q: string | undefined
  after: IssueCursor | undefined
  limit: number
  /** Whether to count all matching issues. */
  count: boolean
}

/** One page of issues in the order of the list, by `seq`: up to `limit + 1`. */
export interface FoundIssues {
  seqs: number[]
  total: number | undefined
}

/** Whether a request may have to read many issues, which must not happen in the main thread. */
export const needsReader = ({ filter, q }: Pick<FindIssues, 'filter' | 'q'>) =>
  q !== undefined || filter.unread !== undefined || filter.isUnassigned === true

/** Finds a page of the issues that match a filter and contain every word of a search, in the reader's thread. */
export async function findIssues(ctx: Context, want: FindIssues) {
  const { seqs, total } = await ctx.reader.run(findIssuesJob, want)
  return { rows: listIssuesBySeq(ctx.db, seqs), total }
}

/**
 * Words that most issues contain fill a page from the first issues of the list,
 * so those are read and compared first. If they do not fill the page, at least
 * one word is rare, and the index then has few entries to read.
 */
export const findIssuesJob: ReadJob<FindIssues, FoundIssues> = {
  name: 'issues.find',
  run(db, { filter, q, after, limit, count }) {
    const terms = termsOf(q ?? '')
    if (q === undefined) {
      const rows = listIssues(db, filter, { after, limit })
      return { seqs: rows.map((row) => row.seq), total: count ? countIssues(db, filter) : undefined }
    }
    if (terms.length === 0) return { seqs: [], total: count ? 0 : undefined }
    const fromList = count ? undefined : takePage(db, { filter, terms, after, limit, isWorthwhile: hasFrequentHits })
    if (fromList) return { seqs: fromList, total: undefined }
    const { candidates, unchecked } = lookUp(db, terms)
    const found = { filter: { ...filter, seqs: candidates }, terms: unchecked, isWorthwhile: () => true }
    return {
      seqs: takePage(db, { ...found, after, limit })!,
      total: count ? countAll(db, found) : undefined,
    }
  },
}

/** With so few candidates, comparing their texts is cheaper than reading the index entries of a frequent word. */
const FEW = 500

interface Search {
  filter: IssueFilter
  /** The words that are compared with the texts. */
  terms: readonly string[]
  isWorthwhile(progress: Progress): boolean
}

interface Progress {
  issues: number
  hits: number
  characters: number
}

/** Whether to go on comparing the issues of the list: at least one of ten matches, within about 50 ms. */
const hasFrequentHits = ({ issues, hits, characters }: Progress) => issues < 30 + 10 * hits && characters < 2_000_000

/** Walks the list and collects `limit + 1` issues that contain the terms. Returns undefined if it gave up. */
function takePage(db: Db, { filter, terms, isWorthwhile, after, limit }: Search & Pick<FindIssues, 'after' | 'limit'>) {
  const compare = createComparison(db, terms)
  const seqs: number[] = []
  let issues = 0
  for (let cursor = after, chunk = terms.length === 0 ? limit : 50; ; chunk = 500) {
    const rows = listIssues(db, filter, { after: cursor, limit: chunk })
    for (const row of rows) {
      issues++
      if (compare.matches(row)) seqs.push(row.seq)
      if (seqs.length > limit) return seqs
      if (!isWorthwhile({ issues, hits: seqs.length, characters: compare.characters() })) return undefined
    }
    if (rows.length <= chunk) return seqs
    cursor = cursorOf(rows.at(-1)!)
  }
}

function countAll(db: Db, { filter, terms }: Search): number {
  if (terms.length === 0) return countIssues(db, filter)
  const { matches } = createComparison(db, terms)
  return listIssues(db, filter, { after: undefined, limit: FEW }).filter(matches).length
}

/** Compares issues and their comments with terms, and counts the characters that it compared. */
function createComparison(db: Db, terms: readonly string[]) {
  const matchesOf = createMatcher(terms)
  let characters = 0
  function* textsOf(issue: IssueRow) {
    yield issue.title
    yield issue.identifier
    yield issue.description ?? ''
    for (const { body } of listCommentTexts(db, { issueSeq: issue.seq })) yield body
  }
  return {
    characters: () => characters,
    matches(issue: IssueRow): boolean {
      if (terms.length === 0) return true
      let missing = terms.map(() => true)
      for (const text of textsOf(issue)) {
        characters += text.length
        const found = matchesOf(text)
        missing = missing.map((isMissing, i) => isMissing && !found[i])
        if (!missing.includes(true)) return true
      }
      return false
    },
  }
}

/** Looks the terms up in the index, the rarest first, until few candidates are left. */
function lookUp(db: Db, terms: readonly string[]): { candidates: number[]; unchecked: string[] } {
  const unchecked = terms
    .map((term) => ({ term, entries: countEntries(db, { pattern: prefixPattern(term), limit: FEW }) }))
    .toSorted((a, b) => a.entries - b.entries)
    .map(({ term }) => term)
  let candidates: number[] | undefined
  while (unchecked.length > 0 && (candidates === undefined || candidates.length > FEW)) {
    const found = listIssuesWith(db, { pattern: prefixPattern(unchecked.shift()!) })
    const both = new Set(found)
    candidates = candidates?.filter((seq) => both.has(seq)) ?? found
  }
  return { candidates: candidates ?? [], unchecked: candidates?.length === 0 ? [] : unchecked }
}
