import type { Db } from '../database/db.ts'
import { prepared, raw, sql } from '../database/sql.ts'
import type { AgentRow } from './agent.ts'

const agentById = prepared((key: { id: string }) => sql.selectFrom('agent').selectAll().where('id', '=', key.id))

export const findAgent = (db: Db, key: { id: string }): AgentRow | undefined => db.first(agentById(key))

const agentByUrlKey = prepared((key: { companyId: string; urlKey: string }) =>
  sql.selectFrom('agent').selectAll().where('company_id', '=', key.companyId).where('url_key', '=', key.urlKey),
)

export const findAgentByUrlKey = (db: Db, key: { companyId: string; urlKey: string }): AgentRow | undefined =>
  db.first(agentByUrlKey(key))

/** The agents above one, from its direct manager up to the top. */
export const listManagers = (db: Db, of: { agentId: string }): AgentRow[] => db.all(managers(of))

// `union`, not `union all`: should a cycle ever stand in the data, the walk still ends.
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
            .where('depth', '<', 100),
        ),
    )
    .selectFrom('above')
    .innerJoin('agent', 'agent.id', 'above.id')
    .selectAll('agent')
    .orderBy('depth'),
)

/** Whether `managerId` is on the agent's chain of command, at any height. */
export const isAbove = (db: Db, pair: { managerId: string; agentId: string }): boolean =>
  listManagers(db, { agentId: pair.agentId }).some((manager) => manager.id === pair.managerId)
