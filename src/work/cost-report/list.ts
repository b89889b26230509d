import * as v from 'valibot'
import { decodeCursor, LIST_QUERY, Page } from '../../http/list.ts'
import { daysOf } from '../../organization/cost/totals.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { countRows, sql } from '../../platform/database/sql.ts'
import { toCostEvent } from './book.ts'

/** The columns that a list of cost events filters by, each with its query parameter. */
const FILTERS = {
  agentId: 'agent_id',
  issueId: 'issue_id',
  projectId: 'project_id',
  runId: 'run_id',
  provider: 'provider',
  model: 'model',
} as const

const COST_STATUS = v.optional(v.picklist(['reported', 'estimated', 'unpriced']))
const text = v.optional(v.string())

/** The filters of the list of cost events. */
export const COST_EVENT_FILTERS = {
  agentId: text,
  issueId: text,
  projectId: text,
  runId: text,
  provider: text,
  model: text,
  costStatus: COST_STATUS,
  from: v.optional(v.pipe(v.string(), v.description('The first UTC day. Default: the first of this month.'))),
  to: v.optional(v.pipe(v.string(), v.description('The last UTC day. Default: today.'))),
}

export const COST_EVENT_QUERY = v.object({ ...LIST_QUERY, ...COST_EVENT_FILTERS })
type Query = v.InferOutput<typeof COST_EVENT_QUERY>

/** The filters of a list of cost events. */
export type CostEventFilters = Omit<Query, keyof typeof LIST_QUERY>

/** Returns the page of a company's cost events that a query selects, newest first. */
export function pageOfCostEvents(ctx: Context, companyId: string, query: Query) {
  const [at, id] = decodeCursor(query.after, ['string', 'string']) ?? []
  const days = daysOf(query, ctx.now)
  const after = at === undefined || id === undefined ? undefined : { at, id }
  const events = selectCostEvents(companyId, { ...query, ...days })
  return Page.of(listCostEvents(ctx.db, events, { after, limit: query.limit }), {
    limit: query.limit,
    cursorOf: (row) => [row.occurred_at, row.id],
    show: toCostEvent,
    total: query.count === 'true' ? countRows(ctx.db, events) : undefined,
  })
}

/** Selects the cost events of a company that match a query. */
export function selectCostEvents(companyId: string, query: CostEventFilters & { from: string; to: string }) {
  let events = sql
    .selectFrom('cost_event')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('occurred_at', '>=', query.from)
    .where('occurred_at', '<', `${query.to}U`) // `U` sorts after `T`, so this includes all times of that day.
  for (const [name, column] of Object.entries(FILTERS) as [keyof typeof FILTERS, (typeof FILTERS)['agentId']][]) {
    const value = query[name]
    if (value !== undefined) events = events.where(column, '=', value)
  }
  if (query.costStatus !== undefined) events = events.where('cost_status', '=', query.costStatus)
  return events
}

/** Reads selected cost events, newest first. Returns one row more than `limit` if there are more. */
export function listCostEvents(
  db: Db,
  events: ReturnType<typeof selectCostEvents>,
  page: { after: { at: string; id: string } | undefined; limit: number },
) {
  let rows = events
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
  const { after } = page
  if (after) {
    rows = rows.where(({ eb, or, and }) =>
      or([eb('occurred_at', '<', after.at), and([eb('occurred_at', '=', after.at), eb('id', '<', after.id)])]),
    )
  }
  return db.all(rows)
}
