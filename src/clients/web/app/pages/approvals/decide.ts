import { signal } from '@preact/signals'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { approvals } from '../../state/inbox.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Approval } from '../../state/types.ts'

const ENDPOINTS = {
  approved: 'POST /api/approvals/:approvalId/approve',
  rejected: 'POST /api/approvals/:approvalId/reject',
  revision_requested: 'POST /api/approvals/:approvalId/request-revision',
} as const

export type Outcome = keyof typeof ENDPOINTS

/** The details of a decision. `allow` is for a folder: only for this run, or always for the company. */
export interface Details {
  decisionNote?: string | null
  allow?: 'once' | 'always'
  /** The option that the board chose, for a question. */
  option?: string
}

const DONE: Record<Outcome, string> = {
  approved: 'Approved.',
  rejected: 'Rejected.',
  revision_requested: 'Revision requested.',
}

/**
 * Decides an approval. It is removed from the inbox immediately, and restored with the
 * reason if the server rejects it.
 */
export async function decide(approval: Approval, outcome: Outcome, details: Details = {}): Promise<boolean> {
  const decided = await act(
    () => request(ENDPOINTS[outcome], { params: { approvalId: approval.id }, body: details }) as Promise<Approval>,
    () => approvals.patch(approval.id, { status: outcome }),
  )
  if (!decided) return false
  approvals.put(decided)
  invalidate('approvals')
  toast(DONE[outcome])
  return true
}

/** The decision that the reason dialog is open for. */
export const pendingDecision = signal<{ approval: Approval; outcome: Outcome } | undefined>(undefined)

/** Decides immediately if no reason is needed. Otherwise it asks for a reason, which the agent reads. */
export function beginDecision(approval: Approval, outcome: Outcome, details?: Details): void {
  if (outcome === 'approved') void decide(approval, outcome, details)
  else pendingDecision.value = { approval, outcome }
}
