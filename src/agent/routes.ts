import * as v from 'valibot'
import type { Context } from '../context.ts'
import { forbidden, invalid } from '../errors.ts'
import { decodeCursor, LIST_QUERY, Page } from '../http/list.ts'
import { route } from '../http/route.ts'
import { agent, board } from '../http/who.ts'
import { Agent, AgentDetail, NewAgent, toAgent, toAgentDetail } from './agent.ts'
import { createAgent } from './create.ts'
import { getAgent } from './get.ts'
import { SHOWN_STATUSES, type ShownStatus } from './lifecycle.ts'
import { countAgents, findAgentWithFacts, listAgents, listManagers } from './queries.ts'

/** The company in which a `urlKey` in the path is looked up; an id needs none, nor does an agent's own company. */
export const AGENT_QUERY = v.object({ companyId: v.optional(v.string()) })

/** An agent as it stands, for an answer. */
export const showAgent = (ctx: Context, { id }: { id: string }): AgentDetail =>
  toAgentDetail(findAgentWithFacts(ctx.db, { id, now: ctx.now })!, listManagers(ctx.db, { agentId: id }))

export const agentRoutes = [
  route({
    id: 'agents.me',
    method: 'GET',
    path: '/api/agents/me',
    summary: 'Get the agent that asks',
    who: [board, agent],
    description: 'For agents: the board is no agent and gets a 403 that says so.',
    answers: { 200: AgentDetail },
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
      status: v.optional(v.pipe(v.string(), v.description('Comma-separated statuses.'))),
      role: v.optional(v.string()),
      reportsTo: v.optional(v.string()),
    }),
    answers: { 200: v.array(Agent) },
    run: (ctx, { params, query }) => {
      const { limit, role, reportsTo } = query
      const filter = { companyId: params.companyId, statuses: statusesOf(query.status), role, reportsTo }
      const after = decodeCursor(query.after, ['string'])?.[0]
      const rows = listAgents(ctx.db, { ...filter, after, limit, now: ctx.now })
      const total = query.count === 'true' ? countAgents(ctx.db, filter) : undefined
      return Page.of(rows, { limit, cursorOf: (row) => [row.id], show: toAgent, total })
    },
  }),
  route({
    id: 'agents.create',
    method: 'POST',
    path: '/api/companies/:companyId/agents',
    summary: 'Create an agent',
    who: [board],
    body: NewAgent,
    answers: { 201: AgentDetail },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => showAgent(ctx, createAgent(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'agents.get',
    method: 'GET',
    path: '/api/agents/:agentId',
    summary: 'Get an agent with its chain of command',
    who: [board, agent],
    query: AGENT_QUERY,
    answers: { 200: AgentDetail },
    run: (ctx, { caller, params, query }) => showAgent(ctx, getAgent(ctx, caller, params.agentId, query.companyId)),
  }),
]

function statusesOf(text: string | undefined): ShownStatus[] | undefined {
  if (!text) return undefined
  const statuses = text.split(',').map((status) => status.trim())
  const known = statuses.filter((status): status is ShownStatus => SHOWN_STATUSES.includes(status as ShownStatus))
  if (known.length === statuses.length) return known
  throw invalid([{ path: 'status', message: `is a comma-separated list of ${SHOWN_STATUSES.join(', ')}` }])
}
