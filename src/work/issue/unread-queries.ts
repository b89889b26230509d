import type { Selectable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { each, prepared, raw, sql } from '../../platform/database/sql.ts'
import type { IssueReadTable } from '../../platform/database/tables.ts'

/** The `activity_seq` of an issue that a person marked as unread. */
export const NEVER_SEEN = -1

/** The SQL condition that an issue is unread for a person. It reads the index of the activity of the issue. */
export const isUnreadFor = (userId: string | null) => raw<boolean>`(
  with seen(seq) as (
    select coalesce((select activity_seq from issue_read where user_id = ${userId} and issue_id = issue.id), 0)
  )
  select seen.seq = ${raw.lit(NEVER_SEEN)} or exists (
    select 1 from activity
    where activity.entity_id = issue.id and activity.seq > seen.seq
      and (actor_type <> 'user' or actor_id <> ${userId})
  ) from seen)`

const unread = prepared((of: { userId: string; seqs: string }) =>
  sql
    .selectFrom(each(of.seqs))
    .crossJoin('issue')
    .select('issue.seq')
    .where(raw<boolean>`issue.seq = wanted.value`)
    .where(isUnreadFor(of.userId)),
)

/** Lists the issues that are unread for a person, by `seq`. */
export const listUnread = (db: Db, of: { userId: string; seqs: readonly number[] }): number[] =>
  db.all(unread({ userId: of.userId, seqs: JSON.stringify(of.seqs) })).map((row) => row.seq)

const latest = prepared((of: { issueId: string }) =>
  sql.selectFrom('activity').select('seq').where('entity_id', '=', of.issueId).orderBy('seq', 'desc').limit(1),
)

export const lastActivity = (db: Db, of: { issueId: string }) => db.first(latest(of))

/** Stores which activity of an issue a person has seen last. */
export const saveReadState = (db: Db, state: Selectable<IssueReadTable>) =>
  db.run(
    sql
      .insertInto('issue_read')
      .values(state)
      .onConflict((conflict) => conflict.doUpdateSet({ activity_seq: state.activity_seq })),
  )
