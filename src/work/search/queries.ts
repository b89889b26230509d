import type { RawBuilder } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import { EXCERPT_SOURCE } from './excerpt.ts'

interface Words {
  companyId: string
  /** An expression of FTS5. */
  pattern: string
  limit: number
}

// `cross join` sets the join order: SQLite reads the index newest first (-seq, schema.sql) and stops at the limit.
const issues = prepared((of: Words) =>
  sql
    .selectFrom('issue_text')
    .crossJoin('issue')
    .select(['issue.id', 'issue.identifier', 'issue.title', 'status', 'priority', 'assignee_agent_id'])
    .where(raw<boolean>`issue_text match ${of.pattern}`)
    .where('issue.seq', '=', raw<number>`-issue_text.rowid`)
    .where('issue.company_id', '=', of.companyId)
    .orderBy('issue_text.rowid')
    .limit(of.limit),
)

/** Lists issues with a matching title, identifier or description, newest first. */
export const searchIssues = (db: Db, of: Words) => db.all(issues(of))

const comments = prepared((of: Words) =>
  sql
    .selectFrom('comment_text')
    .crossJoin('comment')
    .crossJoin('issue')
    .select([
      'comment.id',
      'issue.id as issueId',
      'issue.identifier',
      'issue.title as issueTitle',
      'comment.author_agent_id as authorAgentId',
      'comment.author_user_id as authorUserId',
      'comment.created_at as createdAt',
      raw<string>`substr(comment.body, 1, ${raw.lit(EXCERPT_SOURCE)})`.as('text'),
    ])
    .where(raw<boolean>`comment_text match ${of.pattern}`)
    .where('comment.seq', '=', raw<number>`-comment_text.rowid`)
    .where('comment.company_id', '=', of.companyId)
    .whereRef('issue.seq', '=', 'comment.issue_seq')
    .orderBy('comment_text.rowid')
    .limit(of.limit),
)

/** Lists comments that match, newest first, each with the beginning of its text. */
export const searchComments = (db: Db, of: Words) => db.all(comments(of))

/** The words of an index. */
export type WordTable = 'issue_word' | 'comment_word'

// The condition `term >=` is a seek in the index. The character 1 is in no word, so the second seek skips the
// other occurrences of a word.
const words = (table: WordTable) =>
  prepared((of: { prefixes: string; limit: number }) => {
    const from = (first: RawBuilder<unknown>) =>
      raw`(select term from ${raw.table(table)} where term >= ${first} limit 1)`
    const hasPrefix = raw`substr(term, 1, length(prefix)) = prefix`
    const query = raw<{ prefix: string; term: string }>`with recursive word (prefix, term, n) as (
        select value, ${from(raw`value`)}, 1 from json_each(${of.prefixes})
        union all
        select prefix, ${from(raw`word.term || char(1)`)}, n + 1 from word where n < ${of.limit} and ${hasPrefix}
      )
      select prefix, term from word where ${hasPrefix}`
    return { compile: () => query.compile(sql) }
  })

const WORDS = { issue_word: words('issue_word'), comment_word: words('comment_word') }

/** Lists the words of an index that begin with a prefix, up to `limit` for each, in order. It reads no entries of the words. */
export const listWords = (
  db: Db,
  { table, prefixes, limit }: { table: WordTable; prefixes: readonly string[]; limit: number },
) => db.all(WORDS[table]({ prefixes: JSON.stringify(prefixes), limit }))

const agents = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('agent')
    .select(['id', 'name', 'url_key as urlKey', 'role', 'title', 'status'])
    .where('company_id', '=', of.companyId)
    .orderBy('id'),
)

const projects = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('project')
    .select(['id', 'name', 'url_key as urlKey', 'status'])
    .where('company_id', '=', of.companyId)
    .orderBy('id', 'desc'),
)

const goals = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('goal')
    .select(['id', 'title', 'level', 'status'])
    .where('company_id', '=', of.companyId)
    .orderBy('id', 'desc'),
)

/** Lists the agents, projects and goals of a company. There are few of them, so the caller compares their names. */
export const listNamed = (db: Db, of: { companyId: string }) => ({
  agents: db.all(agents(of)),
  projects: db.all(projects(of)),
  goals: db.all(goals(of)),
})
