import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { forbidden } from '../../platform/errors.ts'
import { getIssue } from './get.ts'
import type { IssueRow } from './issue.ts'
import { lastActivity, listUnread, NEVER_SEEN, saveReadState } from './unread-queries.ts'

/**
 * Returns whether issues are unread for a caller. An issue is
 * unread for a person if somebody else did something on it since the person
 * marked it as read. For agents, no issue is unread.
 */
export function findUnread(db: Db, caller: Caller, issues: readonly IssueRow[]): (issue: IssueRow) => boolean {
  if (caller.type !== 'board') return () => false
  const unread = new Set(listUnread(db, { userId: caller.userId, seqs: issues.map(({ seq }) => seq) }))
  return ({ seq }) => unread.has(seq)
}

/**
 * Marks an issue as read for the calling person, up to its latest activity.
 * The activity does not record it, because the state is personal.
 */
export function markRead(ctx: Context, caller: Caller, ref: string): IssueRow {
  const issue = getIssue(ctx, caller, ref)
  const seq = lastActivity(ctx.db, { issueId: issue.id })?.seq ?? 0
  saveReadState(ctx.db, { user_id: personOf(caller), issue_id: issue.id, activity_seq: seq })
  return issue
}

/** Marks an issue as unread for the calling person, even if only that person worked on it. */
export function markUnread(ctx: Context, caller: Caller, ref: string): IssueRow {
  const issue = getIssue(ctx, caller, ref)
  saveReadState(ctx.db, { user_id: personOf(caller), issue_id: issue.id, activity_seq: NEVER_SEEN })
  return issue
}

function personOf(caller: Caller): string {
  if (caller.type !== 'board') throw forbidden('Only people mark issues as read.')
  return caller.userId
}
