import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { IssueReference, toReference } from '../issue/issue.ts'
import { findIssue } from '../issue/queries.ts'
import { createMatcher, createWordMatcher, termsOf, wordPattern } from '../issue/words.ts'
import { excerptOf } from './excerpt.ts'
import { expandTerms } from './expand.ts'
import { listNamed, searchComments, searchIssues, type WordTable } from './queries.ts'

/** The results of a search, by kind, each with at most `limit` entries. */
export const Found = v.strictObject({
  query: v.string(),
  issues: v.array(IssueReference),
  comments: v.array(
    v.strictObject({
      id: field.id,
      issueId: field.id,
      identifier: v.pipe(v.string(), v.description("The issue's identifier.")),
      issueTitle: v.string(),
      authorAgentId: v.nullable(field.id),
      authorUserId: v.nullable(v.string()),
      createdAt: field.timestamp,
      snippet: v.pipe(v.string(), v.description('A part of the comment that contains a word of the search.')),
    }),
  ),
  agents: v.array(
    v.strictObject({
      id: field.id,
      name: v.string(),
      urlKey: v.string(),
      role: v.string(),
      title: v.nullable(v.string()),
      status: v.string(),
    }),
  ),
  projects: v.array(v.strictObject({ id: field.id, name: v.string(), urlKey: v.string(), status: v.string() })),
  goals: v.array(v.strictObject({ id: field.id, title: v.string(), level: v.string(), status: v.string() })),
})

export interface Search {
  companyId: string
  q: string
  limit: number
}

/**
 * Searches a company. A result contains every term at the beginning of a word,
 * regardless of case and accents. The order of the issues: the one with the
 * search text as its identifier, those with all terms as complete words in the
 * title, those with all terms as complete words anywhere, the others. Each group,
 * and the two groups of comments, are newest first.
 */
export const searchJob: ReadJob<Search, v.InferOutput<typeof Found>> = {
  name: 'search',
  run(db, { companyId, q, limit }) {
    const terms = termsOf(q)
    if (terms.length === 0) return { query: q, issues: [], comments: [], agents: [], projects: [], goals: [] }
    const comments = findComments(db, { companyId, terms, limit })
    const { agents, projects, goals } = listNamed(db, { companyId })
    const matchesOf = createMatcher(terms)
    const matches = (text: string) => matchesOf(text).every(Boolean)
    return {
      query: q,
      issues: findIssues(db, { companyId, q, terms, limit }).map(toReference),
      comments: comments.map(({ text, ...comment }) => ({ ...comment, snippet: excerptOf(text, terms) })),
      agents: agents.filter((one) => matches(`${one.name} ${one.role} ${one.title ?? ''}`)).slice(0, limit),
      projects: projects.filter((one) => matches(one.name)).slice(0, limit),
      goals: goals.filter((one) => matches(one.title)).slice(0, limit),
    }
  },
}

interface Terms extends Omit<Search, 'q'> {
  terms: readonly string[]
}

function findIssues(db: Db, { q, ...of }: Terms & Pick<Search, 'q'>) {
  const named = findIssue(db, q.trim())
  const first = named?.company_id === of.companyId ? [named] : []
  const pattern = completeWords(of.terms)
  const found = searchIssues(db, { ...of, pattern })
  const isTitled = createWordMatcher(of.terms)
  // A full page may leave out older issues with the terms in their title.
  const titled =
    found.length < of.limit
      ? found.filter(({ title, identifier }) => isTitled([title, identifier]))
      : searchIssues(db, { ...of, pattern: `{title identifier} : (${pattern})` })
  return distinct([...first, ...titled, ...found, ...findOthers(searchIssues, db, 'issue_word', of, found)]).slice(
    0,
    of.limit,
  )
}

function findComments(db: Db, of: Terms) {
  const found = searchComments(db, { ...of, pattern: completeWords(of.terms) })
  return distinct([...found, ...findOthers(searchComments, db, 'comment_word', of, found)]).slice(0, of.limit)
}

/** FTS5 returns complete words newest first, without reading all matches. */
const completeWords = (terms: readonly string[]) => terms.map(wordPattern).join(' ')

/** Looks for words that begin with the terms, unless the complete words fill the page. */
function findOthers<Row>(
  find: (db: Db, of: { companyId: string; pattern: string; limit: number }) => Row[],
  db: Db,
  table: WordTable,
  { companyId, terms, limit }: Terms,
  complete: readonly Row[],
): Row[] {
  if (complete.length === limit) return []
  const pattern = expandTerms(db, table, terms)
  return pattern === undefined ? [] : find(db, { companyId, pattern, limit })
}

/** Removes rows with a duplicate id. In a Map, setting a key again does not change its position. */
const distinct = <Row extends { id: string }>(rows: Row[]): Row[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
]
