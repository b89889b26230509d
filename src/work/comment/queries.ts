import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { CommentRow } from './comment.ts'

const insert = prepared((row: Omit<CommentRow, 'seq'>) =>
  sql.insertInto('comment').values({
    id: row.id,
    company_id: row.company_id,
    issue_seq: row.issue_seq,
    author_type: row.author_type,
    author_agent_id: row.author_agent_id,
    author_user_id: row.author_user_id,
    created_by_run_id: row.created_by_run_id,
    body: row.body,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }),
)

export const insertComment = (db: Db, row: Omit<CommentRow, 'seq'>): CommentRow => ({
  ...row,
  seq: db.insert(insert(row)),
})

const byId = prepared((key: { issueSeq: number; id: string }) =>
  sql.selectFrom('comment').selectAll().where('id', '=', key.id).where('issue_seq', '=', key.issueSeq),
)

export const findComment = (db: Db, key: { issueSeq: number; id: string }): CommentRow | undefined =>
  db.first(byId(key))

interface CommentPage {
  issueSeq: number
  order: 'asc' | 'desc'
  /** The `seq` of the last comment of the previous page. */
  after: number | undefined
  limit: number
}

/** Lists comments by their creation, ascending or descending. */
export function listComments(db: Db, page: CommentPage): CommentRow[] {
  const query = sql
    .selectFrom('comment')
    .selectAll()
    .where('issue_seq', '=', page.issueSeq)
    .orderBy('seq', page.order)
    .limit(page.limit + 1)
  return db.all(page.after === undefined ? query : query.where('seq', page.order === 'asc' ? '>' : '<', page.after))
}

const countOf = prepared((of: { issueSeq: number }) =>
  sql
    .selectFrom('comment')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('issue_seq', '=', of.issueSeq),
)

export const countComments = (db: Db, of: { issueSeq: number }): number => db.first(countOf(of))!.n

const names = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('agent')
    .select(['id', 'name'])
    .where('company_id', '=', of.companyId)
    .where('status', '<>', 'terminated'),
)

const people = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('membership')
    .innerJoin('auth_user', 'auth_user.id', 'membership.user_id')
    .select(['auth_user.id', 'auth_user.name'])
    .where('membership.company_id', '=', of.companyId),
)

/** An agent or a person that a comment can mention. The person `board` represents all members of the company. */
export interface Mentionable {
  type: 'agent' | 'user'
  id: string
  name: string
}

/** The id that represents all members of the company. */
export const EVERYBODY = 'board'

/** Lists whom a comment can mention: the agents of a company, its members, and the board as a whole. */
export const listMentionable = (db: Db, of: { companyId: string }): Mentionable[] => [
  ...db.all(names(of)).map((agent) => ({ type: 'agent' as const, ...agent })),
  ...db.all(people(of)).map((person) => ({ type: 'user' as const, ...person })),
  { type: 'user', id: EVERYBODY, name: EVERYBODY },
]

/** Stores which people a comment mentions. */
export function insertMentions(db: Db, comment: CommentRow, userIds: readonly string[]): void {
  if (userIds.length === 0) return
  const { id: comment_id, company_id } = comment
  db.run(sql.insertInto('mention').values(userIds.map((user_id) => ({ comment_id, user_id, company_id }))))
}
