import { AppError } from '../../platform/errors.ts'

export const APPROVAL_STATUSES = ['pending', 'revision_requested', 'approved', 'rejected', 'cancelled'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** The statuses that may follow each status. A status without a next one is final. */
export const NEXT: Record<ApprovalStatus, readonly ApprovalStatus[]> = {
  pending: ['approved', 'rejected', 'revision_requested', 'cancelled'],
  revision_requested: ['pending', 'approved', 'rejected', 'cancelled'],
  approved: [],
  rejected: [],
  cancelled: [],
}

/** The statuses of an approval that the board can still decide. */
export const UNDECIDED = ['pending', 'revision_requested'] as const satisfies readonly ApprovalStatus[]

/**
 * Rejects a transition that is not in `NEXT`. The error lists the allowed ones.
 *
 * @throws AppError 422 `invalid_transition`
 */
export function assertTransition(approval: { status: ApprovalStatus }, to: ApprovalStatus): void {
  const allowed = NEXT[approval.status]
  if (allowed.includes(to)) return
  const hint = allowed.length > 0 ? `It can become ${allowed.join(', ')}.` : 'That status is final.'
  throw new AppError('invalid_transition', `This approval is ${approval.status}, so it cannot become ${to}. ${hint}`, {
    status: approval.status,
    allowed,
  })
}
