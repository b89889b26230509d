import { AppError } from '../../platform/errors.ts'
import type { ApprovalRow } from './approval.ts'

export const APPROVAL_STATUSES = ['pending', 'revision_requested', 'approved', 'rejected', 'cancelled'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** What may follow what; what nothing follows is final. */
export const NEXT: Record<ApprovalStatus, readonly ApprovalStatus[]> = {
  pending: ['approved', 'rejected', 'revision_requested', 'cancelled'],
  revision_requested: ['pending', 'rejected', 'cancelled'],
  approved: [],
  rejected: [],
  cancelled: [],
}

/** Refuses a step that the table does not have, and says which ones it has. */
export function refuseStep(approval: ApprovalRow, to: ApprovalStatus): void {
  const allowed = NEXT[approval.status]
  if (allowed.includes(to)) return
  const hint = allowed.length > 0 ? `It can become ${allowed.join(', ')}.` : 'That is final.'
  throw new AppError('invalid_transition', `This approval is ${approval.status}, so it cannot become ${to}. ${hint}`, {
    status: approval.status,
    allowed,
  })
}
