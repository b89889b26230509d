import type { Wake } from '../../adapter/adapter.ts'
import type { PromptParts } from '../../adapter/prompt.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { parseReasons, type WakeReason } from '../../organization/wake/wake.ts'
import type { Db } from '../../platform/database/db.ts'
import { findApprovalBrief, findCommentBrief, findIssueBrief, type IssueBrief } from './prepare-queries.ts'

/** The cause of a run: the issue of its wake with the latest comment on it, and the latest approval. */
export interface WakeContext {
  issue: IssueBrief | null
  approval: NonNullable<ReturnType<typeof findApprovalBrief>> | null
  /** For the prompt. */
  comment: PromptParts['comment']
  /** For the prompt. */
  others: PromptParts['others']
  /** For the adapter. */
  wake: Wake
}

/** The maximum number of causes that a run receives, the latest ones. They fit into an environment variable. */
const MAX_CAUSES = 100

/** Reads the entities that caused a run. */
export function readWakeContext(db: Db, run: Pick<RunRow, 'company_id' | 'issue_id' | 'reasons'>): WakeContext {
  const reasons = parseReasons(run)
  const issue = run.issue_id === null ? undefined : findIssueBrief(db, run.issue_id)
  const approvalId = reasons.findLast((reason) => reason.approvalId !== null)?.approvalId
  const approval = (approvalId && findApprovalBrief(db, approvalId)) || null
  const isOfIssue = (reason: WakeReason) => run.issue_id === null || reason.issueId === run.issue_id
  const commentId = reasons.findLast((reason) => reason.commentId !== null && isOfIssue(reason))?.commentId ?? null
  const comment = commentId === null ? undefined : findCommentBrief(db, commentId)
  const causes = reasons.slice(-MAX_CAUSES).map(({ source, issueId, commentId, approvalId }) => ({
    source,
    issueId,
    commentId,
    approvalId,
  }))
  return {
    issue: issue ?? null,
    approval,
    comment: comment ? { id: comment.id, author: authorOf(comment), body: comment.body } : null,
    others: listOthers(db, run, reasons, approval?.id),
    wake: {
      companyId: run.company_id,
      reasons: reasons.map((reason) => reason.source),
      issueId: run.issue_id,
      commentId,
      approvalId: approval?.id ?? null,
      causes,
    },
  }
}

/** Lists the causes that concern other issues and approvals: one entry for each, with its latest cause. */
function listOthers(
  db: Db,
  run: { issue_id: string | null },
  reasons: readonly WakeReason[],
  shownApproval: string | undefined,
): PromptParts['others'] {
  const latest = new Map<string, WakeReason>()
  for (const reason of reasons) {
    const { issueId, approvalId } = reason
    if (approvalId !== null && approvalId !== shownApproval) latest.set(approvalId, reason)
    else if (issueId !== null && issueId !== run.issue_id && approvalId === null) latest.set(issueId, reason)
  }
  return [...latest.values()].flatMap(({ source, issueId, commentId, approvalId }) => {
    const issue = issueId === null ? undefined : findIssueBrief(db, issueId)
    const approval = approvalId === null ? undefined : findApprovalBrief(db, approvalId)
    return issue || approval ? [{ source, issue: issue ?? null, commentId, approval: approval ?? null }] : []
  })
}

const authorOf = ({ author, person }: { author: string | null; person: string | null }) =>
  author ?? (person === null ? 'the board' : `${person} of the board`)
