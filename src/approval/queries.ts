import type { Db } from '../database/db.ts'
import { prepared, sql } from '../database/sql.ts'

const approvedStrategy = prepared((of: { agentId: string }) =>
  sql
    .selectFrom('approval')
    .select('id')
    .where('requested_by_agent_id', '=', of.agentId)
    .where('type', '=', 'approve_ceo_strategy')
    .where('status', '=', 'approved')
    .limit(1),
)

/** Whether a strategy of this CEO was ever approved (contract, issue rule 4). */
export const hasApprovedStrategy = (db: Db, of: { agentId: string }) => db.first(approvedStrategy(of)) !== undefined
