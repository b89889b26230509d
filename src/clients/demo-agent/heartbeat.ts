import { answerQuestions } from './answer.ts'
import type { Api } from './api.ts'
import { lead } from './lead.ts'
import type { Environment } from './shift.ts'
import { type Shift, sayOnce } from './shift.ts'
import { mayLead } from './strategy.ts'
import { workAlone } from './work.ts'

export interface HeartbeatInput {
  api: Api
  env: Environment
  /** How long a piece of work takes, in milliseconds. */
  pace: number
  say(text: string): void
}

/**
 * Performs the heartbeat procedure once: identity, decisions of the board,
 * questions, own issues. It stores nothing between heartbeats. Each heartbeat
 * compares the state in the API with the work to do, so it continues one that
 * was killed at any point.
 */
export async function heartbeat({ api, env, pace, say }: HeartbeatInput): Promise<void> {
  const me = await api.request('GET /api/agents/me')
  const agents = await api.request('GET /api/companies/:companyId/agents', { params: { companyId: me.companyId } })
  const team = agents.filter((agent) => agent.status !== 'terminated' && agent.status !== 'pending_approval')
  const shift: Shift = { api, me, team, env, pace, say }
  say(`I am ${me.name} (${me.role}), woken by ${env.SERVICE_WAKE_REASON ?? 'hand'}.`)
  await followUpApproval(shift)
  await answerQuestions(shift)
  const leads = team.some((agent) => agent.reportsTo === me.id)
  if (!leads) await workAlone(shift)
  else if (await mayLead(shift)) await lead(shift)
  say('Nothing more to do for now.')
}

/** Comments the decision of the board on the linked issues. */
async function followUpApproval(shift: Shift): Promise<void> {
  const id = shift.env.SERVICE_APPROVAL_ID
  if (!id) return
  const approval = await shift.api.request('GET /api/approvals/:approvalId', { params: { approvalId: id } })
  const issues = await shift.api.request('GET /api/approvals/:approvalId/issues', { params: { approvalId: id } })
  const note = approval.decisionNote ? `: ${approval.decisionNote}` : '.'
  const what = approval.type.replaceAll('_', ' ')
  for (const issue of issues)
    await sayOnce(shift, issue, `The board answered my request (${what}) with ${approval.status}${note}`)
}
