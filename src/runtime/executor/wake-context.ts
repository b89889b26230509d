import type { Wake } from '../../adapter/adapter.ts'
import type { PromptParts } from '../../adapter/prompt.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { parseReasons } from '../../organization/wake/wake.ts'
import type { Db } from '../../platform/database/db.ts'
import { findApprovalBrief, findCommentBrief, findIssueBrief, type IssueBrief } from './prepare-queries.ts'

/** The cause of a run: the issue of its wake, and the latest approval and comment among its reasons. */
export interface WakeContext {
  issue: IssueBrief | null
  approval: NonNullable<ReturnType<typeof findApprovalBrief>> | null
  /** For the prompt. */
  comment: PromptParts['comment']
  /** For the adapter. */
  wake: Wake
}

/** Reads the entities that caused a run. */
export function readWakeContext(db: Db, run: Pick<RunRow, 'company_id' | 'issue_id' | 'reasons'>): WakeContext {
  const reasons = parseReasons(run)
  const issue = run.issue_id === null ? undefined : findIssueBrief(db, run.issue_id)
  const approvalId = reasons.findLast((reason) => reason.approvalId !== null)?.approvalId
  const approval = (approvalId && findApprovalBrief(db, approvalId)) || null
  const commentId = reasons.findLast((reason) => reason.commentId !== null)?.commentId ?? null
  const comment = commentId === null ? undefined : findCommentBrief(db, commentId)
  return {
    issue: issue ?? null,
    approval,
    comment: comment ? { id: comment.id, author: authorOf(comment), body: comment.body } : null,
    wake: {
      companyId: run.company_id,
      reasons: reasons.map((reason) => reason.source),
      issueId: run.issue_id,
      commentId,
      approvalId: approval?.id ?? null,
    },
  }
}

const authorOf = ({ author, person }: { author: string | null; person: string | null }) =>
  author ?? (person === null ? 'the board' : `${person} of the board`)
