import * as v from 'valibot'
import { agent, board } from '../../access/who.ts'
import { route } from '../../http/route.ts'
import { AgentDetail, NewAgent } from '../../organization/agent/agent.ts'
import { showAgent } from '../../organization/agent/show.ts'
import { Approval, toApproval } from '../approval/approval.ts'
import { hireAgent } from './hire.ts'

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
    responses: { 201: v.strictObject({ agent: AgentDetail, approval: v.nullable(Approval) }) },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const { agent, approval } = hireAgent(ctx, caller, params.companyId, body)
        return { agent: showAgent(ctx, agent), approval: approval && toApproval(approval) }
      }),
  }),
]
