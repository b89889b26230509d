import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { PlacementTable } from '../../platform/database/tables.ts'

export type PlacementRow = Selectable<PlacementTable>

const placementByName = prepared((key: { name: string }) =>
  sql.selectFrom('placement').selectAll().where('name', '=', key.name),
)

export const findPlacement = (db: Db, key: { name: string }): PlacementRow | undefined => db.first(placementByName(key))

export const listPlacements = (db: Db): PlacementRow[] =>
  db.all(sql.selectFrom('placement').selectAll().orderBy('name'))

const anyPlacement = raw<{ isAny: 0 | 1 }>`select
  exists (select 1 from placement)
  or exists (select 1 from agent where runtime_config ->> '$.placement' <> 'local' and status <> 'terminated')
  or exists (select 1 from project where placement <> 'local') as isAny`.compile(sql)

/** Whether there is a placement, or an agent or a project names one, which may have been removed. */
export const isAnyPlacement = (db: Db): boolean => db.first(anyPlacement)!.isAny === 1

export const insertPlacement = (db: Db, row: Insertable<PlacementTable>): PlacementRow =>
  db.first(sql.insertInto('placement').values(row).returningAll())!

export const updatePlacement = (db: Db, name: string, change: Updateable<PlacementTable>): PlacementRow =>
  db.first(sql.updateTable('placement').set(change).where('name', '=', name).returningAll())!

export const deletePlacement = (db: Db, name: string) => db.run(sql.deleteFrom('placement').where('name', '=', name))

/** Makes no placement the default. */
export const clearDefault = (db: Db) =>
  db.run(sql.updateTable('placement').set({ is_default: 0 }).where('is_default', '=', 1))

/** Counts the references to a placement by live runs, agents and projects. */
export function countPlacementUses(db: Db, name: string): { liveRuns: number; agents: number; projects: number } {
  return db.first(
    raw<{ liveRuns: number; agents: number; projects: number }>`select
      (select count(*) from run where finished_at is null and placement = ${name}) as liveRuns,
      (select count(*) from agent where runtime_config ->> '$.placement' = ${name} and status <> 'terminated') as agents,
      (select count(*) from project where placement = ${name} and archived_at is null) as projects`.compile(sql),
  )!
}

/**
 * The name of the placement of a wake's run, as an SQL expression over `wake`
 * and its `agent`: that of the agent, else that of the issue's project, else
 * the default of the instance, else `local`. Agents without a program always use
 * this machine.
 */
export const PLACEMENT_OF_WAKE = raw<string>`iif(agent.adapter_type in ('http', 'none'), 'local', coalesce(
  json_extract(agent.runtime_config, '$.placement'),
  (select project.placement from issue join project on project.id = issue.project_id where issue.id = wake.issue_id),
  (select name from placement where is_default = 1), 'local'))`

const placementOfRun = prepared((of: { agentId: string; issueId: string | null }) =>
  sql
    .selectFrom('agent')
    .innerJoin(raw<{ issue_id: string | null }>`(select ${of.issueId} as issue_id)`.as('wake'), (join) => join.onTrue())
    .where('agent.id', '=', of.agentId)
    .select(PLACEMENT_OF_WAKE.as('placement')),
)

/** Returns the name of the placement for the runs of an agent on an issue, or `local`. */
export const placementFor = (db: Db, of: { agentId: string; issueId: string | null }): string =>
  db.first(placementOfRun(of))!.placement
