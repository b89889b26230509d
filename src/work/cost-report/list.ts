import * as v from 'valibot'
import { decodeCursor, LIST_QUERY, Page, totalOf } from '../../http/list.ts'
import { daysOf } from '../../organization/cost/totals.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
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

export const COST_EVENT_QUERY = v.object({
  ...LIST_QUERY,
  agentId: text,
  issueId: text,
  projectId: text,
  runId: text,
  provider: text,
  model: text,
  costStatus: COST_STATUS,
  from: v.optional(v.pipe(v.string(), v.description('The first UTC day. Default: the first of this month.'))),
  to: v.optional(v.pipe(v.string(), v.description('The last UTC day. Default: today.'))),
})
type Query = v.InferOutput<typeof COST_EVENT_QUERY>

/** Returns the page of a company's cost events that a query selects, newest first. */
export function pageOfCostEvents(ctx: Context, companyId: string, query: Query) {
  const [at, id] = decodeCursor(query.after, ['string', 'string']) ?? []
  const days = daysOf(query, ctx.now)
  const after = at === undefined || id === undefined ? undefined : { at, id }
  const rows = listCostEvents(ctx.db, companyId, { ...query, ...days }, { after, limit: query.limit })
  return Page.of(rows, {
    limit: query.limit,
    cursorOf: (row) => [row.occurred_at, row.id],
    show: toCostEvent,
    total: totalOf(query, ctx.db, (db, all) =>
      listCostEvents(db, companyId, { ...query, ...days }, { after: undefined, limit: all.limit }),
    ),
  })
}

function listCostEvents(
  db: Db,
  companyId: string,
  query: Query & { from: string; to: string },
  page: { after: { at: string; id: string } | undefined; limit: number },
) {
  let rows = sql
    .selectFrom('cost_event')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('occurred_at', '>=', query.from)
    .where('occurred_at', '<', `${query.to}U`) // after every time of that day: U follows T
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
  for (const [name, column] of Object.entries(FILTERS) as [keyof typeof FILTERS, (typeof FILTERS)['agentId']][]) {
    const value = query[name]
    if (value !== undefined) rows = rows.where(column, '=', value)
  }
  if (query.costStatus !== undefined) rows = rows.where('cost_status', '=', query.costStatus)
  const { after } = page
  if (after) {
    rows = rows.where(({ eb, or, and }) =>
      or([eb('occurred_at', '<', after.at), and([eb('occurred_at', '=', after.at), eb('id', '<', after.id)])]),
    )
  }
  return db.all(rows)
}
