import * as v from 'valibot'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { costsOfRuns, findIssueByRef, selectRuns } from './queries.ts'
import { RUN_STATUSES, type RunStatus, toRun } from './run.ts'

/** The filters that every list of runs accepts. */
export const RUN_QUERY = {
  agentId: v.optional(v.string()),
  status: v.optional(v.pipe(v.string(), v.description('A comma-separated list of statuses.'))),
}

export const RUN_LIST_QUERY = v.object({
  ...LIST_QUERY,
  ...RUN_QUERY,
  issueId: v.optional(v.string()),
})

/** Returns the page of a company's runs that a query selects, newest first. */
export function pageOfRuns(
  ctx: Context,
  companyId: string,
  query: v.InferOutput<typeof RUN_LIST_QUERY>,
  live: boolean,
) {
  const { agentId, issueId } = query
  const filter = {
    companyId,
    agentId,
    issueId: issueId === undefined ? undefined : (findIssueByRef(ctx.db, { companyId, ref: issueId })?.id ?? issueId),
    statuses: query.status === undefined ? undefined : statusesOf(query.status),
    live,
  }
  const page = readPage(ctx.db, selectRuns(filter), query, { by: 'id', direction: 'desc' })
  const costs = costsOfRuns(
    ctx.db,
    page.items.map((row) => row.id),
  )
  return page.map((row) => toRun(row, costs.get(row.id)))
}

function statusesOf(list: string): RunStatus[] {
  const statuses = list.split(',').map((status) => status.trim())
  const unknown = statuses.filter((status) => !(RUN_STATUSES as readonly string[]).includes(status))
  if (unknown.length === 0) return statuses as RunStatus[]
  throw invalid([{ path: 'status', message: `knows ${RUN_STATUSES.join(', ')}, not ${unknown.join(', ')}` }])
}
