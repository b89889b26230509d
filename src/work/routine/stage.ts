import { findFreeze } from '../../organization/instance/queries.ts'
import type { Context } from '../../platform/context.ts'
import { fireQueued, fireRoutine } from './fire.ts'
import { listActiveRoutines, listDueRoutines, listQueuedRoutines, updateRoutineRow } from './queries.ts'
import { scheduleOf } from './routine.ts'
import { nextMoment } from './schedule.ts'

/**
 * Lets the routines happen whose moment has come, in the caller's transaction.
 * However many moments one missed while there was no server, it happens once.
 * A moment at which nothing may be created passes, and the history says why.
 */
export function stageRoutines(ctx: Context): void {
  if (!findFreeze(ctx.db)) for (const routine of listQueuedRoutines(ctx.db)) fireQueued(ctx, routine)
  for (const routine of listDueRoutines(ctx.db, { now: ctx.now })) {
    const dueAt = routine.next_due_at!
    fireRoutine(ctx, routine, dueAt)
    const next = nextMoment(scheduleOf(routine), ctx.now, dueAt)
    // Checked when it was written, a schedule ends only when its time zone is known no more.
    const after = next === undefined ? { status: 'paused' as const, queued_due_at: null } : {}
    updateRoutineRow(ctx.db, routine.id, { next_due_at: next ?? null, ...after })
  }
}

/** Sees to it that no routine waits longer than its schedule says, after the clock was, or may have been, set back. */
export function boundRoutines(ctx: Context): void {
  for (const routine of listActiveRoutines(ctx.db)) {
    const latest = nextMoment(scheduleOf(routine), ctx.now)
    if (latest !== undefined && routine.next_due_at! > latest) {
      updateRoutineRow(ctx.db, routine.id, { next_due_at: latest })
    }
  }
}
