import * as v from 'valibot'
import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { AgentDetail, Permissions } from './agent.ts'
import { approveAgentConfig } from './approve-config.ts'
import { setBudget } from './budget.ts'
import { pauseAgentManually, resumeAgent } from './pause.ts'
import { AGENT_QUERY, changing } from './show.ts'
import { assertNotTerminated, changePermissions } from './update.ts'
import { manager } from './who.ts'

/** The endpoints with which the board controls an agent, besides its configuration. */
export const controlRoutes = [
  route({
    id: 'agents.setBudget',
    method: 'PATCH',
    path: '/api/agents/:agentId/budgets',
    summary: "Set an agent's monthly budget",
    description:
      'The board sets any; a manager those of the agents below it, within its own. 0 is no limit. A budget above the spend resumes an agent that was paused for its budget; one below pauses it.',
    who: [board, manager],
    query: AGENT_QUERY,
    body: v.strictObject({ budgetMonthlyCents: field.cents }),
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => {
      assertNotTerminated(agent)
      setBudget(ctx, caller, agent, body.budgetMonthlyCents)
    }),
  }),
  route({
    id: 'agents.setPermissions',
    method: 'PATCH',
    path: '/api/agents/:agentId/permissions',
    summary: 'Change what an agent may do',
    who: [board],
    query: AGENT_QUERY,
    body: Permissions,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => changePermissions(ctx, caller, agent, body)),
  }),
  route({
    id: 'agents.approveConfiguration',
    method: 'POST',
    path: '/api/agents/:agentId/approve-configuration',
    summary: "Approve an agent's configuration as it stands",
    description:
      'For an agent that another agent hired without an approval, and for paths that agents set. Its runs are no longer restricted, its paths are used as they are, and its timer starts. An agent that waits for the approval of its hire is approved there.',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({
      revisionId: v.optional(
        v.pipe(v.string(), v.description('The latest config revision that you saw; a 409 if there is a later one.')),
      ),
    }),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => approveAgentConfig(ctx, caller, agent, body.revisionId)),
  }),
  route({
    id: 'agents.pause',
    method: 'POST',
    path: '/api/agents/:agentId/pause',
    summary: 'Pause an agent: its live runs are stopped, its waiting wake is dropped',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({ reason: v.optional(v.nullable(field.name)) }),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => pauseAgentManually(ctx, caller, agent, body.reason ?? undefined)),
  }),
  route({
    id: 'agents.resume',
    method: 'POST',
    path: '/api/agents/:agentId/resume',
    summary: 'Let a paused agent, or one in error, work again',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller }, agent) => resumeAgent(ctx, caller, agent)),
  }),
]
