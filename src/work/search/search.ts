import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { IssueReference, toReference } from '../issue/issue.ts'
import { findIssue } from '../issue/queries.ts'
import { termsOf, toPattern } from '../issue/search.ts'
import { listNamed, searchComments, searchIssues } from './queries.ts'

/** What a search finds, by kind; each at most as many as were asked for. */
export const Found = v.strictObject({
  query: v.string(),
  issues: v.array(IssueReference),
  comments: v.array(
    v.strictObject({
      id: field.id,
      issueId: field.id,
      identifier: v.pipe(v.string(), v.description("The issue's.")),
      issueTitle: v.string(),
      authorAgentId: v.nullable(field.id),
      authorUserId: v.nullable(v.string()),
      createdAt: field.timestamp,
      snippet: v.pipe(v.string(), v.description('The part that has the words.')),
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

/**
 * Searches a company for everything that has all the words, each as the
 * beginning of a word, whatever their case and accents. The issue whose
 * identifier was asked for is the first; then the newest.
 */
export function search(ctx: Context, companyId: string, q: string, limit: number): v.InferOutput<typeof Found> {
  const terms = termsOf(q)
  if (terms.length === 0) return { query: q, issues: [], comments: [], agents: [], projects: [], goals: [] }
  const words = { companyId, pattern: terms.map(toPattern).join(' '), limit }
  const named = findIssue(ctx.db, q.trim())
  const first = named?.company_id === companyId ? [toReference(named)] : []
  const others = searchIssues(ctx.db, words).filter((issue) => issue.id !== named?.id)
  const { agents, projects, goals } = listNamed(ctx.db, { companyId })
  const isMeant = matcher(terms)
  return {
    query: q,
    issues: [...first, ...others].slice(0, limit),
    comments: searchComments(ctx.db, words),
    agents: agents.filter((one) => isMeant(`${one.name} ${one.role} ${one.title ?? ''}`)).slice(0, limit),
    projects: projects.filter((one) => isMeant(one.name)).slice(0, limit),
    goals: goals.filter((one) => isMeant(one.title)).slice(0, limit),
  }
}

/** Whether a text has all the words, as the full-text index would find it. */
function matcher(terms: readonly string[]): (text: string) => boolean {
  const wanted = terms.map((term) => ` ${fold(term)}`)
  return (text) => {
    const folded = ` ${fold(text)}`
    return wanted.every((term) => folded.includes(term))
  }
}

/** A text as the index compares it: lower-case words without accents, a blank between two. */
const fold = (text: string) =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
