import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'

const texts = prepared((of: { issueSeq: number }) =>
  sql.selectFrom('comment').select('body').where('issue_seq', '=', of.issueSeq).orderBy('seq'),
)

export const listCommentTexts = (db: Db, of: { issueSeq: number }) => db.all(texts(of))

// One JSON array, because better-sqlite3 makes an object of each row.
const seqs = (pattern: string) =>
  raw<{ seqs: string }>`select json_group_array(seq) as seqs from (
    select -rowid as seq from issue_text where issue_text match ${pattern}
    union
    select issue_seq from comment_text cross join comment
      where comment_text match ${pattern} and comment.seq = -comment_text.rowid)`

/** Lists the `seq` of each issue that matches or has a comment that matches, in all companies. */
export const listIssuesWith = (db: Db, of: { pattern: string }): number[] =>
  JSON.parse(db.first(seqs(of.pattern).compile(sql))!.seqs)

/** Counts the issues and comments that match, up to `limit`, in all companies. */
export const countEntries = (db: Db, { pattern, limit }: { pattern: string; limit: number }): number =>
  db.first(
    raw<{ n: number }>`select count(*) as n from (
      select 1 from (select 1 from issue_text where issue_text match ${pattern} limit ${limit})
      union all
      select 1 from (select 1 from comment_text where comment_text match ${pattern} limit ${limit})
    )`.compile(sql),
  )!.n
