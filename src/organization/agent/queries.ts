import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { AgentTable } from '../../platform/database/tables.ts'
import { monthOf } from '../cost/money.ts'
import type { AgentRow, AgentWithFacts } from './agent.ts'
import { READY, type ShownStatus } from './lifecycle.ts'

const agentById = prepared((key: { id: string }) => sql.selectFrom('agent').selectAll().where('id', '=', key.id))

export const findAgent = (db: Db, key: { id: string }): AgentRow | undefined => db.first(agentById(key))

const agentByUrlKey = prepared((key: { companyId: string; urlKey: string }) =>
  sql.selectFrom('agent').selectAll().where('company_id', '=', key.companyId).where('url_key', '=', key.urlKey),
)

export const findAgentByUrlKey = (db: Db, key: { companyId: string; urlKey: string }): AgentRow | undefined =>
  db.first(agentByUrlKey(key))

/** Finds an agent by its id, or by its `urlKey` in a company in any case. The id may belong to another company. */
export const findAgentByReference = (
  db: Db,
  key: { companyId: string | undefined; ref: string },
): AgentRow | undefined =>
  findAgent(db, { id: key.ref }) ??
  (key.companyId === undefined
    ? undefined
    : findAgentByUrlKey(db, { companyId: key.companyId, urlKey: key.ref.toLowerCase() }))

/** Lists the managers of an agent, from the direct one up to the top. */
export const listManagers = (db: Db, of: { agentId: string }): AgentRow[] => db.all(managers(of))

/** The maximum number of agents above each other, so that every function of the tree may recurse. */
export const MAX_LEVELS = 100

const managers = prepared((of: { agentId: string }) =>
  sql
    .withRecursive('above(id, depth)', (cte) =>
      cte
        .selectFrom('agent')
        .select(['reports_to as id', raw<number>`1`.as('depth')])
        .where('id', '=', of.agentId)
        .union(
          cte
            .selectFrom('above')
            .innerJoin('agent', 'agent.id', 'above.id')
            .select(['agent.reports_to as id', raw<number>`depth + 1`.as('depth')])
            .where('depth', '<', MAX_LEVELS),
        ),
    )
    .selectFrom('above')
    .innerJoin('agent', 'agent.id', 'above.id')
    .selectAll('agent')
    .orderBy('depth'),
)

/** Counts the levels of the tree from an agent down; 1 if nobody reports to it. */
export const countLevels = (db: Db, of: { agentId: string }): number => db.first(levels(of))!.n

const levels = prepared((of: { agentId: string }) =>
  sql
    .withRecursive('below(id, level)', (cte) =>
      cte
        .selectFrom('agent')
        .select(['id', raw<number>`1`.as('level')])
        .where('id', '=', of.agentId)
        .union(
          cte
            .selectFrom('below')
            .innerJoin('agent', 'agent.reports_to', 'below.id')
            .select(['agent.id', raw<number>`level + 1`.as('level')])
            .where('level', '<', MAX_LEVELS),
        ),
    )
    .selectFrom('below')
    .select((eb) => eb.fn.max<number>('level').as('n')),
)

/** Whether `managerId` is above the agent in its chain of command, at any height. */
export const isAbove = (db: Db, pair: { managerId: string; agentId: string }): boolean =>
  listManagers(db, { agentId: pair.agentId }).some((manager) => manager.id === pair.managerId)

/** The status that the API returns; see `SHOWN_STATUSES`. */
export const SHOWN_STATUS = raw<ShownStatus>`case
  when agent.status in (${raw.join(READY.map((status) => raw.lit(status)))})
    and exists (select 1 from run where run.agent_id = agent.id and run.finished_at is null)
  then 'running' else agent.status end`

/** Selects agents with their spend in a month and the status that the API returns. */
const withFacts = (month: string) =>
  sql
    .selectFrom('agent')
    .leftJoin('cost_total', (join) =>
      join
        .onRef('cost_total.company_id', '=', 'agent.company_id')
        .on('cost_total.kind', '=', 'agent')
        .on('cost_total.period', '=', month)
        .onRef('cost_total.key', '=', 'agent.id'),
    )
    .selectAll('agent')
    .select(({ fn }) => [
      fn.coalesce('cost_total.cost_micros', raw<number>`0`).as('spent_micros'),
      fn.coalesce('cost_total.unpriced', raw<number>`0`).as('unpriced_costs'),
      SHOWN_STATUS.as('shown_status'),
    ])

const agentWithFacts = prepared((key: { id: string; month: string }) =>
  withFacts(key.month).where('agent.id', '=', key.id),
)

export const findAgentWithFacts = (db: Db, key: { id: string; now: string }): AgentWithFacts | undefined =>
  db.first(agentWithFacts({ id: key.id, month: monthOf(key.now) }))

export interface AgentFilter {
  companyId: string
  statuses?: readonly ShownStatus[] | undefined
  role?: string | undefined
  reportsTo?: string | undefined
  now: string
}

/** Selects the agents that match a filter, with their facts for the month of `filter.now`. */
export function selectAgents(filter: AgentFilter) {
  let query = withFacts(monthOf(filter.now)).where('agent.company_id', '=', filter.companyId)
  if (filter.statuses) query = query.where(SHOWN_STATUS, 'in', filter.statuses)
  if (filter.role !== undefined) query = query.where('agent.role', '=', filter.role)
  if (filter.reportsTo !== undefined) query = query.where('agent.reports_to', '=', filter.reportsTo)
  return query
}

/** Lists all agents of a company that are not terminated, oldest first. */
export const listLiveAgents = (db: Db, of: { companyId: string; now: string }): AgentWithFacts[] =>
  db.all(
    withFacts(monthOf(of.now))
      .where('agent.company_id', '=', of.companyId)
      .where('agent.status', '<>', 'terminated')
      .orderBy('agent.id'),
  )

export type OrgMember = Pick<AgentRow, 'id' | 'name' | 'role' | 'title' | 'reports_to'> & { status: ShownStatus }

/** Lists the agents of a company that are not terminated, for its reporting tree, oldest first. */
export const listOrgMembers = (db: Db, of: { companyId: string }): OrgMember[] =>
  db.all(
    sql
      .selectFrom('agent')
      .select(['id', 'name', 'role', 'title', 'reports_to', SHOWN_STATUS.as('status')])
      .where('company_id', '=', of.companyId)
      .where('agent.status', '<>', 'terminated')
      .orderBy('id'),
  )

export const insertAgent = (db: Db, row: Insertable<AgentTable>) => db.run(sql.insertInto('agent').values(row))

export const updateAgent = (db: Db, id: string, change: Updateable<AgentTable>) =>
  db.run(sql.updateTable('agent').set(change).where('id', '=', id))

/** Clears the folders that the board allowed an agent for one run. */
export const clearAllowedOnce = (db: Db, of: { agentId: string }) =>
  db.run(
    sql.updateTable('agent').set({ allowed_once: '[]' }).where('id', '=', of.agentId).where('allowed_once', '<>', '[]'),
  )

/** Lists the agents that report directly to one and are not terminated. */
export const listSubordinates = (db: Db, of: { agentId: string }): AgentRow[] =>
  db.all(
    sql
      .selectFrom('agent')
      .selectAll()
      .where('reports_to', '=', of.agentId)
      .where('status', '<>', 'terminated')
      .orderBy('id'),
  )

export const findLastRun = (db: Db, of: { agentId: string }) =>
  db.first(sql.selectFrom('run').selectAll().where('agent_id', '=', of.agentId).orderBy('id', 'desc').limit(1))

/** Deletes the sessions of an agent, or only that on an issue. Returns the number of deleted sessions. */
export function deleteSessions(db: Db, of: { agentId: string; issueId?: string | undefined }): number {
  let query = sql.deleteFrom('agent_session').where('agent_id', '=', of.agentId)
  if (of.issueId !== undefined) query = query.where('issue_key', '=', of.issueId)
  return db.all(query.returning('issue_key')).length
}

/** Latest first. */
export const listSessions = (db: Db, of: { agentId: string; limit: number }) =>
  db.all(
    sql
      .selectFrom('agent_session')
      .selectAll()
      .where('agent_id', '=', of.agentId)
      .orderBy('updated_at', 'desc')
      .limit(of.limit),
  )
