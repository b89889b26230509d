import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { RunTable } from '../../platform/database/tables.ts'
import { COST_STATUS_OF_ALL } from '../cost/queries.ts'
import type { RunCost, RunRow, RunStatus } from './run.ts'

export const insertRun = (db: Db, row: Insertable<RunTable>): RunRow =>
  db.first(sql.insertInto('run').values(row).returningAll())!

export const updateRun = (db: Db, id: string, change: Updateable<RunTable>): RunRow =>
  db.first(sql.updateTable('run').set(change).where('id', '=', id).returningAll())!

const runById = prepared((key: { id: string }) => sql.selectFrom('run').selectAll().where('id', '=', key.id))

const identifierOf = prepared((of: { id: string }) =>
  sql.selectFrom('issue').select('identifier').where('id', '=', of.id),
)

/** Returns the identifier of the issue of a run; null if it has none. */
export const identifierOfIssue = (db: Db, id: string | null): string | null =>
  id === null ? null : (db.first(identifierOf({ id }))?.identifier ?? null)

export const findRun = (db: Db, key: { id: string }): RunRow | undefined => db.first(runById(key))

/** Lists the live runs, oldest first. */
export function listLiveRuns(
  db: Db,
  filter: { agentId?: string; companyId?: string; issueId?: string; isHere?: true } = {},
): RunRow[] {
  let query = sql.selectFrom('run').selectAll().where('finished_at', 'is', null).orderBy('id')
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
  if (filter.companyId !== undefined) query = query.where('company_id', '=', filter.companyId)
  if (filter.isHere) query = query.where('placement', 'is', null)
  if (filter.issueId !== undefined) query = query.where('issue_id', '=', filter.issueId)
  return db.all(query)
}

const usedSlots = prepared((of: { agentId: string }) =>
  sql.selectFrom('run').select('slot').where('finished_at', 'is', null).where('agent_id', '=', of.agentId),
)

/** Lists the slots of an agent that its live runs use. */
export const listUsedSlots = (db: Db, of: { agentId: string }): number[] =>
  db.all(usedSlots(of)).map(({ slot }) => slot)

const liveRunCount = prepared((_: object) =>
  sql
    .selectFrom('run')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('finished_at', 'is', null),
)

export const countLiveRuns = (db: Db): number => db.first(liveRunCount({}))!.n

/** Lists a run and all its retries, oldest first. */
export const listTries = (db: Db, of: { rootId: string }): RunRow[] =>
  db.all(
    sql
      .selectFrom('run')
      .selectAll()
      .where((eb) => eb.or([eb('id', '=', of.rootId), eb('retry_of_run_id', '=', of.rootId)]))
      .orderBy('id'),
  )

/** Finds the run on an issue that is followed by this many later runs on it. */
export const findNthLatestOnIssue = (db: Db, of: { issueId: string; later: number }) => db.first(nthLatestOnIssue(of))

const nthLatestOnIssue = prepared((of: { issueId: string; later: number }) =>
  sql
    .selectFrom('run')
    .select('created_at')
    .where('issue_id', '=', of.issueId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(of.later),
)

/** Lists the latest runs of an agent on an issue after a time, newest first. */
export const listLatestOnIssue = (db: Db, of: { agentId: string; issueId: string; since: string; limit: number }) =>
  db.all(
    sql
      .selectFrom('run')
      .select(['id', 'status', 'idle', 'created_at'])
      .where('issue_id', '=', of.issueId)
      .where('agent_id', '=', of.agentId)
      .where('created_at', '>', of.since)
      .orderBy('id', 'desc')
      .limit(of.limit),
  )

const runOnIssue = prepared((work: { runId: string; issueId: string }) =>
  sql.updateTable('run').set({ issue_id: work.issueId }).where('id', '=', work.runId).where('finished_at', 'is', null),
)

/** Records which issue a live run works on. */
export const setRunIssue = (db: Db, work: { runId: string; issueId: string }) => db.run(runOnIssue(work))

const liveRunOnIssue = prepared((of: { issueId: string; agentId: string }) =>
  sql
    .selectFrom('run')
    .selectAll()
    .where('issue_id', '=', of.issueId)
    .where('agent_id', '=', of.agentId)
    .where('finished_at', 'is', null)
    .limit(1),
)

/** Finds the live run of an agent on an issue. */
export const findLiveRunOnIssue = (db: Db, of: { issueId: string; agentId: string }) => db.first(liveRunOnIssue(of))

const changeOfRun = prepared((of: { runId: string }) =>
  sql
    .selectFrom('activity')
    .select('seq')
    .where('run_id', '=', of.runId)
    .where('actor_type', '=', 'agent')
    .where('action', '<>', 'cost.reported')
    .limit(1),
)

/** Whether the activity contains a change that the run's agent made with its token. Reports of costs do not count. */
export const hasChangedSomething = (db: Db, of: { runId: string }) => db.first(changeOfRun(of)) !== undefined

const issuesOfRun = prepared((of: { runId: string }) =>
  sql
    .selectFrom('activity')
    .select('entity_id')
    .distinct()
    .where('run_id', '=', of.runId)
    .where('actor_type', '=', 'agent')
    .where('entity_type', '=', 'issue'),
)

/** Lists the ids of the issues on which the run's agent did something with its token. */
export const listChangedIssues = (db: Db, of: { runId: string }) => db.all(issuesOfRun(of)).map((row) => row.entity_id)

const changeWithKey = prepared((of: { companyId: string; agentId: string; since: string }) =>
  sql
    .selectFrom('activity')
    .select('seq')
    .where('company_id', '=', of.companyId)
    // No index contains the time. The query reads few rows: from the newest back to the last one before the time.
    .where('seq', '>', (eb) =>
      eb.fn.coalesce(
        eb
          .selectFrom('activity as earlier')
          .select('earlier.seq')
          .where('earlier.company_id', '=', of.companyId)
          .where('earlier.created_at', '<', of.since)
          .orderBy('earlier.seq', 'desc')
          .limit(1),
        raw<number>`0`,
      ),
    )
    .where('actor_type', '=', 'agent')
    .where('actor_id', '=', of.agentId)
    .where('run_id', 'is', null)
    .where('action', '<>', 'cost.reported')
    .limit(1),
)

/** Whether an agent changed anything with a long-lived key since a time. */
export const hasChangedWithKey = (db: Db, of: { companyId: string; agentId: string; since: string }) =>
  db.first(changeWithKey(of)) !== undefined

/** Returns the costs of runs by run id. Runs without costs are omitted. */
export function costsOfRuns(db: Db, runIds: readonly string[]): Map<string, RunCost> {
  if (runIds.length === 0) return new Map()
  const rows = db.all(
    sql
      .selectFrom('cost_event')
      .select(({ fn }) => [
        'run_id',
        fn.sum<number>('input_tokens').as('input_tokens'),
        fn.sum<number>('cached_input_tokens').as('cached_input_tokens'),
        fn.sum<number>('output_tokens').as('output_tokens'),
        fn.sum<number>('cost_micros').as('cost_micros'),
        COST_STATUS_OF_ALL.as('cost_status'),
        raw<number>`sum(cost_status = 'unpriced')`.as('unpriced'),
      ])
      .where('run_id', 'in', runIds)
      .groupBy('run_id'),
  )
  return new Map(rows.map((row) => [row.run_id!, row]))
}

export interface RunFilter {
  companyId: string
  agentId: string | undefined
  issueId: string | undefined
  statuses: readonly RunStatus[] | undefined
  /** Only the runs that are not finished. */
  live: boolean
}

export function selectRuns(filter: RunFilter) {
  let query = sql
    .selectFrom('run')
    .selectAll()
    // With an issue or an agent, SQLite must use their index.
    .where(
      filter.issueId === undefined && filter.agentId === undefined ? 'company_id' : raw`+company_id`,
      '=',
      filter.companyId,
    )
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
  if (filter.issueId !== undefined) query = query.where('issue_id', '=', filter.issueId)
  if (filter.statuses) query = query.where('status', 'in', filter.statuses)
  if (filter.live) query = query.where('finished_at', 'is', null)
  return query
}

const issueScope = prepared((key: { id: string }) =>
  sql.selectFrom('issue').select(['project_id', 'goal_id', 'billing_code']).where('id', '=', key.id),
)

/** Returns the project, goal and billing code that the costs of an issue are attributed to. */
export const findIssueScope = (db: Db, key: { id: string }) => db.first(issueScope(key))

/** Finds an issue by its id or its identifier, in any case. */
export const findIssueByRef = (db: Db, of: { companyId: string; ref: string }) =>
  db.first(
    sql
      .selectFrom('issue')
      .select('id')
      .where('company_id', '=', of.companyId)
      .where((eb) => eb.or([eb('id', '=', of.ref), eb('identifier', '=', of.ref)])),
  )
