import * as v from 'valibot'
import * as field from '../http/fields.ts'
import { route } from '../http/route.ts'
import { agent, board } from '../http/who.ts'
import { AgentDetail, NewAgent } from './agent.ts'
import { hireAgent } from './hire.ts'
import type { ApprovalRow } from './hire-queries.ts'
import { showAgent } from './show.ts'

const HireApproval = v.strictObject({
  id: field.id,
  companyId: field.id,
  type: v.literal('hire_agent'),
  status: v.literal('pending'),
  requestedByAgentId: v.nullable(field.id),
  requestedByUserId: v.nullable(v.string()),
  payload: field.jsonObject,
  decisionNote: v.null(),
  decidedByUserId: v.null(),
  decidedAt: v.null(),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})

const toHireApproval = (row: ApprovalRow) => ({
  id: row.id,
  companyId: row.company_id,
  type: row.type,
  status: row.status,
  requestedByAgentId: row.requested_by_agent_id,
  requestedByUserId: row.requested_by_user_id,
  payload: JSON.parse(row.payload),
  decisionNote: row.decision_note,
  decidedByUserId: row.decided_by_user_id,
  decidedAt: row.decided_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const hireRoutes = [
  route({
    id: 'agents.hire',
    method: 'POST',
    path: '/api/companies/:companyId/agent-hires',
    summary: 'Hire an agent, with the approval of the board where that is asked for',
    description:
      'For managers, the CEO and the board; an agent without subordinates gets a 403 that names its manager. By default an agent hires for itself: the new one reports to it. The approval is null when none is needed. A hire by an agent that names what runs (command, extraArgs, env, the adapters process and http) always needs one.',
    who: [board, agent],
    body: NewAgent,
    answers: { 201: v.strictObject({ agent: AgentDetail, approval: v.nullable(HireApproval) }) },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const { agent, approval } = hireAgent(ctx, caller, params.companyId, body)
        return { agent: showAgent(ctx, agent), approval: approval && toHireApproval(approval) }
      }),
  }),
]
