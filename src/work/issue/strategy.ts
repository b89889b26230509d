import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import { AppError } from '../../platform/errors.ts'

/**
 * Rejects a CEO agent that sets an issue in progress before the board has
 * approved its first strategy (contract, issue rule 4).
 *
 * @throws AppError 422 `strategy_not_approved`
 */
export function assertStrategyApproved(ctx: Context, caller: Caller): void {
  if (caller.type !== 'agent' || caller.role !== 'ceo') return
  if (hasApprovedStrategy(ctx.db, { agentId: caller.agentId })) return
  throw new AppError(
    'strategy_not_approved',
    'A CEO agent cannot start work before the board approves its strategy. Request an approve_ceo_strategy approval first.',
  )
}

const approvedStrategy = prepared((of: { agentId: string }) =>
  sql
    .selectFrom('approval')
    .select('id')
    .where('requested_by_agent_id', '=', of.agentId)
    .where('type', '=', 'approve_ceo_strategy')
    .where('status', '=', 'approved')
    .limit(1),
)

/** Whether the board ever approved a strategy of this CEO agent. */
export const hasApprovedStrategy = (db: Db, of: { agentId: string }) => db.first(approvedStrategy(of)) !== undefined
