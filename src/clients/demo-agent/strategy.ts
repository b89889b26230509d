import type { Issue } from './api.ts'
import { myIssues, type Shift, sayOnce } from './shift.ts'

/**
 * Returns whether this agent may delegate work. A CEO may only after the board
 * has approved its strategy; until then this function requests that approval, once.
 */
export async function mayLead(shift: Shift): Promise<boolean> {
  const { api, me, say } = shift
  if (me.role !== 'ceo') return true
  const [issue] = await myIssues(shift)
  const params = { companyId: me.companyId }
  const approvals = (await api.request('GET /api/companies/:companyId/approvals', { params })).filter(
    (approval) => approval.type === 'approve_ceo_strategy' && approval.requestedByAgentId === me.id,
  )
  const is = (status: string) => approvals.find((approval) => approval.status === status)
  if (is('approved')) return true
  if (!issue) return false
  const sentBack = is('revision_requested')
  if (sentBack) {
    const plan = `${planOf(shift, issue)}\nRevised: ${sentBack.decisionNote ?? 'as the board asked'}.`
    await api.request('POST /api/approvals/:approvalId/resubmit', {
      params: { approvalId: sentBack.id },
      body: { payload: { plan } },
    })
    say('Sent the revised strategy to the board.')
  } else if (approvals.length === 0) {
    const payload = { plan: planOf(shift, issue) }
    await api.request('POST /api/companies/:companyId/approvals', {
      params,
      body: { type: 'approve_ceo_strategy', requestedByAgentId: me.id, payload, issueIds: [issue.id] },
      headers: { 'idempotency-key': `demo-strategy-${me.id}` },
    })
  }
  await sayOnce(shift, issue, 'I have asked the board to approve my strategy, and wait for its answer.')
  return false
}

function planOf({ me, team }: Shift, issue: Issue): string {
  const reports = team.filter((agent) => agent.reportsTo === me.id).map((agent) => `${agent.name} (${agent.role})`)
  return `Goal: ${issue.title}\nI split it into issues for ${reports.join(' and ')}, follow them, and report when all are done.`
}
