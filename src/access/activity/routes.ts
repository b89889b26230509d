import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, type ListQuery, readPage } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { agent, board } from '../caller/who.ts'
import { route } from '../route.ts'
import { type ActivityFilter, type ActivityRow, selectActivity } from './queries.ts'

/** An activity as the API returns it. */
export const Activity = v.strictObject({
  id: field.id,
  companyId: field.id,
  actorType: v.picklist(['agent', 'user', 'system']),
  actorId: v.string(),
  action: v.string(),
  entityType: v.string(),
  entityId: v.string(),
  agentId: v.nullable(field.id),
  runId: v.nullable(field.id),
  details: v.nullable(field.jsonObject),
  createdAt: field.timestamp,
})

const toActivity = (row: ActivityRow): v.InferOutput<typeof Activity> => ({
  id: row.id,
  companyId: row.company_id,
  actorType: row.actor_type,
  actorId: row.actor_id,
  action: row.action,
  entityType: row.entity_type,
  entityId: row.entity_id,
  agentId: row.agent_id,
  runId: row.run_id,
  details: row.details === null ? null : JSON.parse(row.details),
  createdAt: row.created_at,
})

export const activityRoutes = [
  route({
    id: 'activity.list',
    method: 'GET',
    path: '/api/companies/:companyId/activity',
    summary: 'List the activity of a company, newest first',
    who: [board, agent],
    isCached: true,
    query: v.object({
      ...LIST_QUERY,
      agentId: v.optional(v.string()),
      entityType: v.optional(v.string()),
      entityId: v.optional(v.string()),
      action: v.optional(v.string()),
      without: v.optional(
        v.pipe(
          v.string(),
          v.transform((text) => text.split(',').filter((entry) => entry !== '')),
          v.maxLength(20, 'must name at most 20 actions'),
          v.description('Actions that are left out, separated by commas, such as `agent.heartbeat_skipped`.'),
        ),
      ),
      runId: v.optional(
        v.pipe(v.string(), v.description('Only the activity of this run, including its start and end.')),
      ),
      since: v.optional(field.sentTimestamp),
    }),
    responses: { 200: v.array(Activity) },
    run: (ctx, { params, query }) => {
      const { agentId, entityType, entityId, action, without, runId } = query
      const since = query.since === undefined ? undefined : new Date(query.since).toISOString()
      const filter = { companyId: params.companyId, agentId, entityType, entityId, action, without, runId, since }
      return pageOfActivity(ctx, filter, query)
    },
  }),
]

/** Returns a page of a company's activity, newest first. */
export const pageOfActivity = (ctx: Context, filter: ActivityFilter, query: ListQuery) =>
  readPage(ctx.db, selectActivity(filter), query, { by: 'seq', direction: 'desc', cursor: 'number' }).map(toActivity)
