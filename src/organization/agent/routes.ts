import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, listOf, readPage } from '../../http/list.ts'
import { JsonText, reply } from '../../http/route.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { Agent, AgentChange, AgentDetail, toAgent } from './agent.ts'
import { getAgent } from './get.ts'
import { InstructionsPath, InstructionsPathChange, setInstructionsPath } from './instructions-path.ts'
import { SHOWN_STATUSES } from './lifecycle.ts'
import { OrgNode } from './org.ts'
import { orgJob } from './org-job.ts'
import { selectAgents } from './queries.ts'
import { RuntimeState, runtimeStateOf, Session, sessionsOf } from './runtime-state.ts'
import { AGENT_QUERY, changing, showAgent } from './show.ts'
import { changeAgent } from './update.ts'

export const agentRoutes = [
  route({
    id: 'agents.me',
    method: 'GET',
    path: '/api/agents/me',
    summary: 'Get the calling agent',
    who: [board, agent],
    description: 'Only for agents. The board receives a 403.',
    responses: { 200: AgentDetail },
    run: (ctx, { caller }) => {
      if (caller.type !== 'agent') {
        throw forbidden('You are the board, not an agent. Send an agent key, or GET /api/agents/:agentId.')
      }
      return showAgent(ctx, { id: caller.agentId })
    },
  }),
  route({
    id: 'agents.list',
    method: 'GET',
    path: '/api/companies/:companyId/agents',
    summary: 'List the agents of a company, oldest first',
    who: [board, agent],
    query: v.object({
      ...LIST_QUERY,
      status: v.optional(listOf(SHOWN_STATUSES)),
      role: v.optional(v.string()),
      reportsTo: v.optional(v.string()),
    }),
    responses: { 200: v.array(Agent) },
    run: (ctx, { params, query }) => {
      const { status: statuses, role, reportsTo } = query
      const agents = selectAgents({ companyId: params.companyId, statuses, role, reportsTo, now: ctx.now })
      return readPage(ctx.db, agents, query, { by: 'id', table: 'agent' }).map(toAgent)
    },
  }),
  route({
    id: 'agents.get',
    method: 'GET',
    path: '/api/agents/:agentId',
    summary: 'Get an agent with its chain of command',
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: AgentDetail },
    run: (ctx, { caller, params, query }) => showAgent(ctx, getAgent(ctx, caller, params.agentId, query.companyId)),
  }),
  route({
    id: 'agents.update',
    method: 'PATCH',
    path: '/api/agents/:agentId',
    summary: 'Change an agent',
    description:
      'Configurations are merged key by key: null removes a key, and a redacted placeholder keeps the stored secret. A new adapterType replaces the configuration. An agent may change name, title, icon and capabilities of itself and of the agents below it.',
    who: [board, agent],
    query: AGENT_QUERY,
    body: AgentChange,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, body }, agent) => changeAgent(ctx, caller, agent, body)),
  }),
  route({
    id: 'agents.setInstructionsPath',
    method: 'PATCH',
    path: '/api/agents/:agentId/instructions-path',
    summary: 'Set the path of the instructions of an agent',
    description:
      'For the agent itself, the managers above it and the board. A relative path is resolved against adapterConfig.cwd. Null clears the path.',
    who: [board, agent],
    query: AGENT_QUERY,
    body: InstructionsPathChange,
    responses: { 200: InstructionsPath },
    run: (ctx, { caller, params, query, body }) =>
      ctx.write(() => setInstructionsPath(ctx, caller, getAgent(ctx, caller, params.agentId, query.companyId), body)),
  }),
  route({
    id: 'agents.runtimeState',
    method: 'GET',
    path: '/api/agents/:agentId/runtime-state',
    summary: "Get an agent's last run, next timer wake and sessions",
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: RuntimeState },
    run: (ctx, { caller, params, query }) =>
      runtimeStateOf(ctx, getAgent(ctx, caller, params.agentId, query.companyId)),
  }),
  route({
    id: 'agents.sessions',
    method: 'GET',
    path: '/api/agents/:agentId/task-sessions',
    summary: 'List the program sessions of an agent, latest first',
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: v.array(Session) },
    run: (ctx, { caller, params, query }) => sessionsOf(ctx, getAgent(ctx, caller, params.agentId, query.companyId)),
  }),
  route({
    id: 'agents.org',
    method: 'GET',
    path: '/api/companies/:companyId/org',
    summary: 'Get the org chart as a tree, without terminated agents',
    who: [board, agent],
    responses: { 200: v.array(OrgNode) },
    run: async (ctx, { params }) => new JsonText(await orgOf(ctx, params.companyId, 'json')),
  }),
  route({
    id: 'agents.orgSvg',
    method: 'GET',
    path: '/api/companies/:companyId/org.svg',
    summary: 'Get the org chart as an SVG image',
    who: [board, agent],
    responses: { 200: 'image/svg+xml' },
    run: async (ctx, { params }) =>
      reply(200, await orgOf(ctx, params.companyId, 'svg'), { 'content-type': 'image/svg+xml' }),
  }),
]

const orgOf = (ctx: Context, companyId: string, format: 'json' | 'svg') => ctx.reader.run(orgJob, { companyId, format })
