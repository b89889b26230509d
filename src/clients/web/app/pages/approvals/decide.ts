import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { approvals } from '../../state/inbox.ts'
import { toast } from '../../state/toasts.ts'
import type { Approval } from '../../state/types.ts'

const ENDPOINTS = {
  approved: 'POST /api/approvals/:approvalId/approve',
  rejected: 'POST /api/approvals/:approvalId/reject',
  revision_requested: 'POST /api/approvals/:approvalId/request-revision',
} as const

export type Outcome = keyof typeof ENDPOINTS

const SAID: Record<Outcome, string> = {
  approved: 'Approved.',
  rejected: 'Rejected.',
  revision_requested: 'A revision is requested.',
}

/** Decides an approval; it leaves the inbox at once, and comes back with the reason if the server refuses. */
export async function decide(approval: Approval, outcome: Outcome, decisionNote: string | null): Promise<boolean> {
  const decided = await act(
    () =>
      request(ENDPOINTS[outcome], {
        params: { approvalId: approval.id },
        body: { decisionNote },
      }) as Promise<Approval>,
    () => approvals.patch(approval.id, { status: outcome }),
  )
  if (!decided) return false
  approvals.put(decided)
  toast(SAID[outcome])
  return true
}
