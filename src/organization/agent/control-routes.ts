import * as v from 'valibot'
import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { AgentDetail, Permissions } from './agent.ts'
import { approveAgentConfig } from './approve-config.ts'
import { pauseAgentManually, resumeAgent } from './pause.ts'
import { setBudget } from './set-budget.ts'
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
      'The board may set any budget. A manager may set the budgets of the agents below it, up to its own. 0 means no limit. A budget above the spend resumes an agent that was paused for its budget; a budget below it pauses the agent.',
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
    summary: 'Change the permissions of an agent',
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
    summary: "Approve an agent's current configuration",
    description:
      'For an agent that another agent hired without an approval, and for paths that agents set. The runs are no longer restricted, the paths may point to any folder, and the timer starts. For an agent whose hire is pending, approve the hire instead.',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({
      revisionId: v.pipe(
        v.string(),
        v.description(
          'The config revision that you approve, the latest. If the configuration has changed since, the response is 409. Read the revision before the configuration, so that you approve what you have seen.',
        ),
      ),
    }),
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => approveAgentConfig(ctx, caller, agent, body.revisionId)),
  }),
  route({
    id: 'agents.pause',
    method: 'POST',
    path: '/api/agents/:agentId/pause',
    summary: 'Pause an agent: stop its live runs and drop its waiting wake',
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
    summary: 'Resume an agent that is paused or in error',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller }, agent) => resumeAgent(ctx, caller, agent)),
  }),
]
