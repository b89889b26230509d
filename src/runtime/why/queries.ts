import type { Action } from '../../access/activity/actions.ts'
import type { ActivityRow } from '../../access/activity/queries.ts'
import { COST_STATUS_OF_ALL } from '../../organization/cost/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { WakeRow } from '../../organization/wake/wake.ts'
import type { Db } from '../../platform/database/db.ts'
import { each, prepared, raw, sql } from '../../platform/database/sql.ts'

const activityById = prepared((of: { ids: string; companyId: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('activity')
    .whereRef('activity.id', '=', 'wanted.value')
    .where('activity.company_id', '=', of.companyId)
    .selectAll('activity'),
)

export const listActivityByIds = (db: Db, of: { companyId: string; ids: readonly string[] }): ActivityRow[] =>
  of.ids.length === 0 ? [] : db.all(activityById({ companyId: of.companyId, ids: JSON.stringify(of.ids) }))

/** The actions that hold back the runs of an agent or of a company, and end that. */
const HOLDS: readonly Action[] = [
  'agent.paused',
  'agent.held',
  'agent.resumed',
  'company.paused',
  'company.resumed',
  'company.stopped',
  'company.thawed',
  'company.frozen',
  'company.unfrozen',
]

/** The maximum number of holds of an agent in a history. */
const MAX_HOLDS = 200

const holds = prepared((of: { companyId: string; agentId: string; since: string }) =>
  sql
    .selectFrom('activity')
    .selectAll()
    .where((eb) => eb.or([eb('entity_id', '=', of.agentId), eb('entity_id', '=', of.companyId)]))
    .where('created_at', '>=', of.since)
    .where('action', 'in', HOLDS)
    .orderBy('seq', 'desc')
    .limit(MAX_HOLDS),
)

/** Lists what held back an agent's runs since a moment, and what ended that; the latest. */
export const listHolds = (db: Db, of: { companyId: string; agentId: string; since: string }) => db.all(holds(of))

const runById = prepared((of: { ids: string; companyId: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('run')
    .whereRef('run.id', '=', 'wanted.value')
    .where('run.company_id', '=', of.companyId)
    .selectAll('run'),
)

export const listRunsByIds = (db: Db, of: { companyId: string; ids: readonly string[] }): RunRow[] =>
  of.ids.length === 0 ? [] : db.all(runById({ companyId: of.companyId, ids: JSON.stringify(of.ids) }))

const runsOfIssue = prepared((of: { issueId: string; limit: number }) =>
  sql.selectFrom('run').selectAll().where('issue_id', '=', of.issueId).orderBy('id', 'desc').limit(of.limit),
)

/** Lists the latest runs on an issue. */
export const listRunsOfIssue = (db: Db, of: { issueId: string; limit: number }): RunRow[] => db.all(runsOfIssue(of))

const wakesOfIssue = prepared((of: { issueId: string; limit: number }) =>
  sql
    .selectFrom('wake')
    .selectAll()
    .where('issue_id', '=', of.issueId)
    .where('status', '<>', 'claimed')
    .orderBy('id', 'desc')
    .limit(of.limit),
)

/** Later reasons are merged into the waiting wake of an agent, which may begin with another issue. */
const mergedWakesOfIssue = prepared((of: { issueId: string; companyId: string }) =>
  sql
    .selectFrom('wake')
    .selectAll()
    .where('status', '=', raw.lit('waiting'))
    .where('agent_id', 'in', (eb) => eb.selectFrom('agent').select('id').where('company_id', '=', of.companyId))
    .where('issue_id', 'is not', of.issueId)
    .where(raw<boolean>`instr(reasons, ${of.issueId}) > 0`),
)

/** Lists the latest wakes for an issue without a run: waiting or dropped. */
export const listIdleWakesOfIssue = (db: Db, of: { issueId: string; companyId: string; limit: number }): WakeRow[] => [
  ...db.all(wakesOfIssue(of)),
  ...db.all(mergedWakesOfIssue(of)),
]

const costOfIssue = prepared((of: { issueId: string }) =>
  sql
    .selectFrom('cost_event')
    .select(({ fn }) => [fn.sum<number>('cost_micros').as('cost_micros'), COST_STATUS_OF_ALL.as('cost_status')])
    .where('issue_id', '=', of.issueId)
    .groupBy('issue_id'),
)

/** Returns the costs of an issue, in micro-dollars; undefined if there are none. */
export const sumCostOfIssue = (db: Db, of: { issueId: string }) => db.first(costOfIssue(of))
