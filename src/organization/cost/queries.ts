import type { Insertable } from 'kysely'
import type { CostStatus } from '../../adapter/adapter.ts'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { CostEventTable } from '../../platform/database/tables.ts'
import { monthOf } from './money.ts'

export const insertCostEvent = (db: Db, row: Insertable<CostEventTable>) =>
  db.run(sql.insertInto('cost_event').values(row))

const costOfRun = prepared((of: { runId: string; provider: string; model: string }) =>
  sql
    .selectFrom('cost_event')
    .select(({ fn }) => [
      fn.coalesce(fn.sum<number>('input_tokens'), raw<number>`0`).as('input_tokens'),
      fn.coalesce(fn.sum<number>('cached_input_tokens'), raw<number>`0`).as('cached_input_tokens'),
      fn.coalesce(fn.sum<number>('output_tokens'), raw<number>`0`).as('output_tokens'),
      fn.coalesce(fn.sum<number>('cost_micros'), raw<number>`0`).as('cost_micros'),
    ])
    .where('run_id', '=', of.runId)
    .where('provider', '=', of.provider)
    .where('model', '=', of.model),
)

/** Returns the sums of a run's cost events for one model. */
export const sumCostOfRun = (db: Db, of: { runId: string; provider: string; model: string }) => db.first(costOfRun(of))!

const status = prepared((of: { runId: string; provider: string; model: string; status: CostStatus }) =>
  sql
    .updateTable('cost_event')
    .set({ cost_status: of.status })
    .where('run_id', '=', of.runId)
    .where('provider', '=', of.provider)
    .where('model', '=', of.model)
    .where('cost_status', '<>', of.status),
)

/** Sets the cost status of all of a run's events for one model. */
export const setCostStatusOfRun = (
  db: Db,
  of: { runId: string; provider: string; model: string; status: CostStatus },
) => db.run(status(of))

/** The cost status of several events together: the least certain one. */
export const COST_STATUS_OF_ALL = raw<CostStatus>`case when max(cost_status = 'unpriced') then 'unpriced' when max(cost_status = 'estimated') then 'estimated' else 'reported' end`

const spend = prepared((of: { companyId: string; kind: 'company' | 'agent'; key: string; period: string }) =>
  sql
    .selectFrom('cost_total')
    .select(['cost_micros', 'unpriced'])
    .where('company_id', '=', of.companyId)
    .where('kind', '=', of.kind)
    .where('period', '=', of.period)
    .where('key', '=', of.key),
)

/** Returns an agent's spend in the month of `now`, in micro-dollars. */
export const agentSpend = (db: Db, of: { companyId: string; agentId: string; now: string }): number =>
  db.first(spend({ companyId: of.companyId, kind: 'agent', key: of.agentId, period: monthOf(of.now) }))?.cost_micros ??
  0

/** Returns the number of cost events of an agent in the month of `now` without a known price. */
export const agentUnpriced = (db: Db, of: { companyId: string; agentId: string; now: string }): number =>
  db.first(spend({ companyId: of.companyId, kind: 'agent', key: of.agentId, period: monthOf(of.now) }))?.unpriced ?? 0

/** Returns a company's spend in the month of `now`, in micro-dollars. */
export const companySpend = (db: Db, of: { companyId: string; now: string }): number =>
  db.first(spend({ companyId: of.companyId, kind: 'company', key: '', period: monthOf(of.now) }))?.cost_micros ?? 0

interface Named {
  id: string
  name: string
  status?: string
  identifier?: string
}

/** Returns the names of the entities that costs are attributed to, by id. */
export function listNames(
  db: Db,
  table: 'agent' | 'project' | 'issue' | 'auth_user',
  ids: readonly string[],
): Map<string, Named> {
  const rows: Named[] =
    table === 'agent'
      ? db.all(sql.selectFrom('agent').select(['id', 'name', 'status']).where('id', 'in', ids))
      : table === 'project' || table === 'auth_user'
        ? db.all(sql.selectFrom(table).select(['id', 'name']).where('id', 'in', ids))
        : db.all(sql.selectFrom('issue').select(['id', 'title as name', 'identifier']).where('id', 'in', ids))
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the number of runs of agents in a range of days, by agent id. */
export const countRunsByAgent = (
  db: Db,
  of: { agentIds: readonly string[]; from: string; to: string },
): Map<string, number> =>
  new Map(
    db
      .all(
        sql
          .selectFrom('run_total')
          .select(({ fn }) => ['agent_id', fn.sum<number>('n').as('n')])
          .where('agent_id', 'in', of.agentIds)
          .where('day', '>=', of.from)
          .where('day', '<=', of.to)
          .groupBy('agent_id'),
      )
      .map((row) => [row.agent_id, row.n]),
  )
