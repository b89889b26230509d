import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { IssueReference, toReference } from '../issue/issue.ts'
import { findIssue } from '../issue/queries.ts'
import { createMatcher, prefixPattern, termsOf, wordPattern } from '../issue/words.ts'
import { excerptOf } from './excerpt.ts'
import { listNamed, searchComments, searchIssues } from './queries.ts'

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
 * regardless of case and accents. An issue with the search text as its identifier
 * is first. Results that contain the terms as complete words follow, then the
 * others, each group newest first.
 */
export const searchJob: ReadJob<Search, v.InferOutput<typeof Found>> = {
  name: 'search',
  run(db, { companyId, q, limit }) {
    const terms = termsOf(q)
    if (terms.length === 0) return { query: q, issues: [], comments: [], agents: [], projects: [], goals: [] }
    const named = findIssue(db, q.trim())
    const first = named?.company_id === companyId ? [named] : []
    const issues = [...first, ...findBest(searchIssues, db, { companyId, terms, limit })]
    const comments = findBest(searchComments, db, { companyId, terms, limit })
    const { agents, projects, goals } = listNamed(db, { companyId })
    const matchesOf = createMatcher(terms)
    const matches = (text: string) => matchesOf(text).every(Boolean)
    return {
      query: q,
      issues: distinct(issues).slice(0, limit).map(toReference),
      comments: comments.map(({ text, ...comment }) => ({ ...comment, snippet: excerptOf(text, terms) })),
      agents: agents.filter((one) => matches(`${one.name} ${one.role} ${one.title ?? ''}`)).slice(0, limit),
      projects: projects.filter((one) => matches(one.name)).slice(0, limit),
      goals: goals.filter((one) => matches(one.title)).slice(0, limit),
    }
  },
}

/**
 * Looks for complete words first. FTS5 returns those newest first without
 * reading all matches; for a prefix it merges the entries of all its words.
 */
function findBest<Row extends { id: string }>(
  find: (db: Db, of: { companyId: string; pattern: string; limit: number }) => Row[],
  db: Db,
  { companyId, terms, limit }: { companyId: string; terms: readonly string[]; limit: number },
): Row[] {
  const complete = find(db, { companyId, pattern: terms.map(wordPattern).join(' '), limit })
  if (complete.length === limit) return complete
  const others = find(db, { companyId, pattern: terms.map(prefixPattern).join(' '), limit })
  return distinct([...complete, ...others]).slice(0, limit)
}

/** Removes rows with a duplicate id. In a Map, setting a key again does not change its position. */
const distinct = <Row extends { id: string }>(rows: Row[]): Row[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
]
