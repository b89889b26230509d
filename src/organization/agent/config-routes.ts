import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { notFound } from '../../platform/errors.ts'
import { AgentDetail, type AgentWithFacts, toAgent } from './agent.ts'
import { Revision, toRevision } from './configuration.ts'
import { getAgent } from './get.ts'
import { SHOWN_STATUSES } from './lifecycle.ts'
import { findAgentWithFacts, selectAgents } from './queries.ts'
import { findRevision, selectRevisions } from './revision-queries.ts'
import { rollBack } from './rollback.ts'
import { AGENT_QUERY, changing } from './show.ts'

/** The configuration of an agent as the API returns it, without its secrets. */
const Configuration = v.strictObject({
  id: field.id,
  companyId: field.id,
  name: v.string(),
  role: v.string(),
  title: v.nullable(v.string()),
  icon: v.nullable(v.string()),
  status: v.picklist(SHOWN_STATUSES),
  reportsTo: v.nullable(field.id),
  capabilities: v.nullable(v.string()),
  adapterType: v.string(),
  adapterConfig: field.jsonObject,
  runtimeConfig: field.jsonObject,
  desiredSkills: v.array(v.string()),
  permissions: field.jsonObject,
  updatedAt: field.timestamp,
})

function toConfiguration(row: AgentWithFacts): v.InferOutput<typeof Configuration> {
  const { id, companyId, name, role, title, icon, status, reportsTo, capabilities, ...rest } = toAgent(row)
  const { adapterType, adapterConfig, runtimeConfig, desiredSkills, permissions, updatedAt } = rest
  return {
    id,
    companyId,
    name,
    role,
    title,
    icon,
    status,
    reportsTo,
    capabilities,
    adapterType,
    adapterConfig,
    runtimeConfig,
    desiredSkills,
    permissions,
    updatedAt,
  }
}

export const configRoutes = [
  route({
    id: 'agents.configuration',
    method: 'GET',
    path: '/api/agents/:agentId/configuration',
    summary: "Get an agent's configuration, secrets redacted",
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: Configuration },
    run: (ctx, { caller, params, query }) => {
      const { id } = getAgent(ctx, caller, params.agentId, query.companyId)
      return toConfiguration(findAgentWithFacts(ctx.db, { id, now: ctx.now })!)
    },
  }),
  route({
    id: 'agents.configurations',
    method: 'GET',
    path: '/api/companies/:companyId/agent-configurations',
    summary: "List the configurations of a company's agents, secrets redacted, the oldest agent first",
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Configuration) },
    run: (ctx, { params: { companyId }, query }) => {
      const agents = selectAgents({ companyId, now: ctx.now })
      return readPage(ctx.db, agents, query, { by: 'id', table: 'agent' }).map(toConfiguration)
    },
  }),
  route({
    id: 'agents.listRevisions',
    method: 'GET',
    path: '/api/agents/:agentId/config-revisions',
    summary: "List the changes of an agent's configuration, secrets redacted, newest first",
    who: [board, agent],
    query: v.object({ ...LIST_QUERY, ...AGENT_QUERY.entries }),
    responses: { 200: v.array(Revision) },
    run: (ctx, { caller, params, query }) => {
      const { id: agentId } = getAgent(ctx, caller, params.agentId, query.companyId)
      return readPage(ctx.db, selectRevisions({ agentId }), query, { by: 'id', direction: 'desc' }).map(toRevision)
    },
  }),
  route({
    id: 'agents.getRevision',
    method: 'GET',
    path: '/api/agents/:agentId/config-revisions/:revisionId',
    summary: "Get one change of an agent's configuration, secrets redacted",
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: Revision },
    run: (ctx, { caller, params, query }) => {
      const { id: agentId } = getAgent(ctx, caller, params.agentId, query.companyId)
      const revision = findRevision(ctx.db, { id: params.revisionId, agentId })
      if (!revision) throw notFound('config revision', params.revisionId, 'This agent')
      return toRevision(revision)
    },
  }),
  route({
    id: 'agents.rollback',
    method: 'POST',
    path: '/api/agents/:agentId/config-revisions/:revisionId/rollback',
    summary: 'Roll the configuration of an agent back to a revision',
    who: [board],
    query: AGENT_QUERY,
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: AgentDetail },
    run: changing((ctx, { caller, params }, row) => rollBack(ctx, caller, row, params.revisionId)),
  }),
]
