import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import { setTimerDue } from '../../organization/agent/timer.ts'
import type { Context } from '../../platform/context.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import { boundRoutines } from '../../work/routine/stage.ts'
import { LONGEST_WAIT_MS } from '../executor/backoff.ts'

/**
 * Brings along what waits for a moment when the clock was set back by so many
 * milliseconds: otherwise an hour back would be an hour of silence. A
 * provider's hold moves too; one that ends too early costs a refused run.
 */
export function followClockBack(ctx: Context, ms: number): void {
  const moved = (column: string) =>
    raw<string>`strftime('%Y-%m-%dT%H:%M:%fZ', ${raw.ref(column)}, ${`-${(ms / 1_000).toFixed(3)} seconds`})`
  const { now } = ctx
  ctx.db.run(
    sql
      .updateTable('agent')
      .set({ timer_due_at: moved('timer_due_at') })
      .where('timer_due_at', '>', now),
  )
  ctx.db.run(
    sql
      .updateTable('agent')
      .set({ held_until: moved('held_until') })
      .where('held_until', '>', now),
  )
  ctx.db.run(
    sql
      .updateTable('wake')
      .set({ not_before: moved('not_before') })
      .where('status', '=', 'waiting')
      .where('not_before', '>', now),
  )
  boundRoutines(ctx)
}

/**
 * At a start nobody knows whether the clock went back meanwhile: no timer may
 * be further away than its interval, no retry further than its longest wait.
 */
export function boundWaits(ctx: Context): void {
  const timers = sql
    .selectFrom('agent')
    .select(['id', 'timer_due_at', 'runtime_config'])
    .where('timer_due_at', '>', ctx.now)
  for (const agent of ctx.db.all(timers)) {
    const latest = later(ctx, heartbeatOf(agent).intervalSec * 1_000)
    if (agent.timer_due_at! > latest) setTimerDue(ctx.db, { agentId: agent.id, at: latest })
  }
  const latest = later(ctx, LONGEST_WAIT_MS)
  ctx.db.run(
    sql
      .updateTable('wake')
      .set({ not_before: latest })
      .where('status', '=', 'waiting')
      .where('not_before', '>', latest),
  )
  boundRoutines(ctx)
}

const later = (ctx: Context, ms: number) => new Date(Date.parse(ctx.now) + ms).toISOString()
