import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'

const agentOfKey = prepared((key: { hash: string }) =>
  sql
    .selectFrom('agent_key')
    .innerJoin('agent', 'agent.id', 'agent_key.agent_id')
    .select([
      'agent_key.id',
      'agent_id',
      'agent.company_id',
      'role',
      'status',
      'scope',
      'revoked_at',
      'expires_at',
      'last_used_at',
    ])
    .where('hash', '=', key.hash),
)

/** Finds the agent of a key by its hash. The key may be revoked. */
export const findAgentOfKey = (db: Db, key: { hash: string }) => db.first(agentOfKey(key))

const runOfToken = prepared((token: { runId: string }) =>
  sql
    .selectFrom('run')
    .innerJoin('agent', 'agent.id', 'run.agent_id')
    .select(['run.id', 'agent_id', 'run.company_id', 'role', 'agent.status', 'finished_at', 'placement'])
    .where('run.id', '=', token.runId),
)

/** Finds the run of a token. The run may have ended. */
export const findRunOfToken = (db: Db, token: { runId: string }) => db.first(runOfToken(token))

const liveSubordinate = prepared((of: { agentId: string }) =>
  sql
    .selectFrom('agent')
    .select('id')
    .where('reports_to', '=', of.agentId)
    .where('status', '<>', 'terminated')
    .limit(1),
)

/** Whether an agent is a manager: at least one agent that is not terminated reports to it. */
export const hasSubordinates = (db: Db, of: { agentId: string }) => db.first(liveSubordinate(of)) !== undefined

/** Records the use of a key, at most once a minute, because a write for each request would cost too much. */
export function recordKeyUse(ctx: Context, key: { id: string; last_used_at: string | null }): void {
  const at = ctx.now
  if (key.last_used_at && Date.parse(at) - Date.parse(key.last_used_at) < 60_000) return
  ctx
    .write(() => ctx.db.run(sql.updateTable('agent_key').set({ last_used_at: at }).where('id', '=', key.id)))
    .catch((error) => ctx.log.error('The use of a key was not recorded.', { key: key.id, error: String(error) }))
}
