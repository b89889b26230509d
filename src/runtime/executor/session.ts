import type { UsageTotals } from '../../adapter/adapter.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { FactSummary } from './facts.ts'

type SessionKey = Pick<RunRow, 'agent_id' | 'issue_id' | 'adapter_type'>

const keyOf = (run: SessionKey) => ({
  agent_id: run.agent_id,
  issue_key: run.issue_id ?? '',
  adapter_type: run.adapter_type,
})

/** Finds the program session of an agent on an issue, or without an issue. */
export function findSession(db: Db, run: SessionKey) {
  const { agent_id, issue_key, adapter_type } = keyOf(run)
  const row = db.first(
    sql
      .selectFrom('agent_session')
      .selectAll()
      .where('agent_id', '=', agent_id)
      .where('issue_key', '=', issue_key)
      .where('adapter_type', '=', adapter_type),
  )
  return (
    row && {
      id: row.session_id,
      totals: JSON.parse(row.totals) as Record<string, UsageTotals>,
      cwd: row.cwd,
      instructionsHash: row.instructions_hash,
    }
  )
}

/** Deletes the session of an agent on an issue, or without an issue. The next run starts a new session. */
export function deleteSession(db: Db, run: SessionKey): void {
  const { agent_id, issue_key, adapter_type } = keyOf(run)
  db.run(
    sql
      .deleteFrom('agent_session')
      .where('agent_id', '=', agent_id)
      .where('issue_key', '=', issue_key)
      .where('adapter_type', '=', adapter_type),
  )
}

/** Stores the session of a run for the next run, or deletes a session that can no longer be resumed. */
export function storeSession(ctx: Context, run: RunRow, facts: FactSummary): void {
  if (facts.isDeadSession) {
    deleteSession(ctx.db, run)
    return
  }
  if (facts.sessionId === null || run.cwd === null) return
  const row = {
    ...keyOf(run),
    session_id: facts.sessionId,
    cwd: run.cwd,
    instructions_hash: run.instructions_hash,
    totals: JSON.stringify(facts.totals ?? {}),
    updated_at: ctx.now,
  }
  ctx.db.run(sql.replaceInto('agent_session').values(row))
}
