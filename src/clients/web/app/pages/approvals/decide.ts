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

/** What a decision says besides its outcome. `allow` is for a folder: this run only, or the company from now on. */
export interface Details {
  decisionNote?: string | null
  allow?: 'once' | 'always'
  /** Of a question to the board: what it chooses. */
  option?: string
}

const DONE: Record<Outcome, string> = {
  approved: 'Approved.',
  rejected: 'Rejected.',
  revision_requested: 'A revision is requested.',
}

/** Decides an approval; it leaves the inbox at once, and comes back with the reason if the server refuses. */
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

/** The decision that a person is giving a reason for. */
export const asked = signal<{ approval: Approval; outcome: Outcome } | undefined>(undefined)

/** Decides at once what needs no reason, and asks for the reason of everything else: the agent reads it. */
export function beginDecision(approval: Approval, outcome: Outcome, details?: Details): void {
  if (outcome === 'approved') void decide(approval, outcome, details)
  else asked.value = { approval, outcome }
}
