import { findFreeze } from '../../organization/instance/queries.ts'
import type { Context } from '../../platform/context.ts'
import { fireQueued, fireRoutine } from './fire.ts'
import { listActiveRoutines, listDueRoutines, listQueuedRoutines, updateRoutineRow } from './queries.ts'
import { scheduleOf } from './routine.ts'
import { nextMoment } from './schedule.ts'

/**
 * Runs the routines that are due, in the current transaction. If a routine
 * missed several times while no server ran, it runs once. If a routine must not
 * create an issue at a time, it skips that time and records the reason.
 */
export function stageRoutines(ctx: Context): void {
  if (!findFreeze(ctx.db)) for (const routine of listQueuedRoutines(ctx.db)) fireQueued(ctx, routine)
  for (const routine of listDueRoutines(ctx.db, { now: ctx.now })) {
    const dueAt = routine.next_due_at!
    fireRoutine(ctx, routine, dueAt)
    const next = nextMoment(scheduleOf(routine), ctx.now, dueAt)
    // A saved schedule is valid, so it ends only if its time zone is no longer known.
    const after = next === undefined ? { status: 'paused' as const, queued_due_at: null } : {}
    updateRoutineRow(ctx.db, routine.id, { next_due_at: next ?? null, ...after })
  }
}

/** Limits the wait of each routine to its schedule, after the clock was (or may have been) set back. */
export function boundRoutines(ctx: Context): void {
  for (const routine of listActiveRoutines(ctx.db)) {
    const latest = nextMoment(scheduleOf(routine), ctx.now)
    if (latest !== undefined && routine.next_due_at! > latest) {
      updateRoutineRow(ctx.db, routine.id, { next_due_at: latest })
    }
  }
}
