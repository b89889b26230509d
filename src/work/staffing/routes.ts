import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { AgentDetail, NewAgent } from '../../organization/agent/agent.ts'
import { AGENT_QUERY, changing, showAgent } from '../../organization/agent/show.ts'
import { Approval, toApproval } from '../approval/approval.ts'
import { createAgent } from './create.ts'
import { hireAgent } from './hire.ts'
import { terminateAgent } from './terminate.ts'

export const staffingRoutes = [
  route({
    id: 'agents.create',
    method: 'POST',
    path: '/api/companies/:companyId/agents',
    summary: 'Create an agent',
    who: [board],
    body: NewAgent,
    responses: { 201: AgentDetail },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => showAgent(ctx, createAgent(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'agents.hire',
    method: 'POST',
    path: '/api/companies/:companyId/agent-hires',
    summary: 'Hire an agent. The board approves the hire if that is required',
    description:
      'For managers, the CEO and the board. An agent without reports receives a 403 that names its manager. By default the new agent reports to the agent that hires it. The approval is null if none is required. A hire by an agent that sets what runs (command, extraArgs, env, the adapters process and http) always requires one. A literal secret is a 422: store the secret and refer to it with {"$secret": "NAME"}.',
    who: [board, agent],
    body: NewAgent,
    responses: { 201: v.strictObject({ agent: AgentDetail, approval: v.nullable(Approval) }) },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const { agent, approval } = hireAgent(ctx, caller, params.companyId, body)
        return { agent: showAgent(ctx, agent), approval: approval && toApproval(approval) }
      }),
  }),
  route({
    id: 'agents.terminate',
    method: 'POST',
    path: '/api/agents/:agentId/terminate',
    summary: 'Terminate an agent permanently',
    description:
      'The server stops its runs, revokes its keys and releases its open issues. Its direct reports move to its manager, and the manager is woken.',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller }, agent) => terminateAgent(ctx, caller, agent)),
  }),
]
