import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { findAgent, isAbove } from '../../organization/agent/queries.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import type { Context } from '../../platform/context.ts'
import { difference, fieldNames } from '../../platform/difference.ts'
import { AppError, forbidden, invalid, unprocessable } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { referredGoal, referredLabels, referredParent, referredProject } from '../issue/references.ts'
import {
  deleteRoutineRow,
  findLabelIds,
  findRoutine,
  insertRoutine,
  replaceRoutineLabels,
  updateRoutineRow,
} from './queries.ts'
import { type NewRoutine, type RoutineChange, type RoutineRow, scheduleOf } from './routine.ts'
import { nextMoment, type Schedule, scheduleFaults } from './schedule.ts'

/** Gets a routine. A routine of another company has the same error as a missing one. */
export function getRoutine(ctx: Context, caller: Caller, id: string): RoutineRow {
  const routine = findRoutine(ctx.db, { id })
  return requireVisible(ctx, caller, routine, 'routine', id)
}

/** Gets a routine that the caller may change. An agent may change only routines whose assignee is below it. */
export function getOwnRoutine(ctx: Context, caller: Caller, id: string): RoutineRow {
  const routine = getRoutine(ctx, caller, id)
  const assignee = routine.assignee_agent_id === null ? undefined : findAgent(ctx.db, { id: routine.assignee_agent_id })
  assertMayReassign(ctx, caller, assignee)
  return routine
}

export function createRoutine(ctx: Context, caller: Caller, companyId: string, want: NewRoutine): RoutineRow {
  const assignee = liveAssignee(ctx, companyId, want.assigneeAgentId)
  assertMayReassign(ctx, caller, assignee)
  return addRoutine(ctx, caller, companyId, { ...want, assigneeAgentId: assignee.id })
}

/** Adds a routine for any assignee. A routine of an import is paused, so it may lack an assignee. */
export function addRoutine(
  ctx: Context,
  caller: Caller,
  companyId: string,
  want: Omit<NewRoutine, 'assigneeAgentId'> & { assigneeAgentId: string | null },
): RoutineRow {
  const schedule = { cron: want.cron ?? null, timeZone: want.timeZone ?? null, intervalSec: want.intervalSec ?? null }
  assertValidSchedule(schedule)
  const status = want.status ?? 'active'
  const actor = actorOf(caller)
  const routine = insertRoutine(ctx.db, {
    id: uuid(),
    company_id: companyId,
    title: want.title,
    description: want.description ?? null,
    priority: want.priority ?? 'medium',
    project_id: referredProject(ctx, companyId, want.projectId ?? null),
    goal_id: referredGoal(ctx, companyId, want.goalId ?? null),
    parent_id: referredParent(ctx, companyId, undefined, want.parentId ?? null)?.id ?? null,
    assignee_agent_id: want.assigneeAgentId,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    interval_sec: schedule.intervalSec,
    overlap: want.overlap ?? 'skip',
    status,
    next_due_at: status === 'active' ? (nextMoment(schedule, ctx.now) ?? null) : null,
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  replaceRoutineLabels(ctx.db, routine.id, referredLabels(ctx, companyId, want.labelIds ?? []))
  record(ctx, caller, 'routine.created', routine, { status: routine.status })
  return routine
}

/** Changes a routine. A new schedule counts from this moment. */
export function updateRoutine(ctx: Context, caller: Caller, id: string, want: RoutineChange): RoutineRow {
  const routine = getOwnRoutine(ctx, caller, id)
  const { company_id } = routine
  const assignee = want.assigneeAgentId && newAssignee(ctx, caller, routine, want.assigneeAgentId)
  const schedule = scheduleAfter(scheduleOf(routine), want)
  const change = difference(routine, {
    title: want.title,
    description: want.description,
    priority: want.priority,
    project_id: want.projectId === undefined ? undefined : referredProject(ctx, company_id, want.projectId),
    goal_id: want.goalId === undefined ? undefined : referredGoal(ctx, company_id, want.goalId),
    parent_id:
      want.parentId === undefined ? undefined : (referredParent(ctx, company_id, undefined, want.parentId)?.id ?? null),
    assignee_agent_id: assignee,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    interval_sec: schedule.intervalSec,
    overlap: want.overlap,
  })
  const labelIds = want.labelIds && referredLabels(ctx, company_id, want.labelIds)
  const hasOtherLabels = labelIds && labelsDiffer(findLabelIds(ctx.db, [id])(id), labelIds)
  if (hasOtherLabels) replaceRoutineLabels(ctx.db, id, labelIds)
  let changed = routine
  if (change || hasOtherLabels) {
    const isRescheduled = change && ('cron' in change || 'time_zone' in change || 'interval_sec' in change)
    changed = updateRoutineRow(ctx.db, id, {
      ...change,
      ...(isRescheduled && routine.status === 'active' && { next_due_at: nextMoment(schedule, ctx.now) ?? null }),
      ...(change?.overlap && { queued_due_at: null }),
      updated_at: ctx.now,
    })
    const names = [...fieldNames(change ?? {}), ...(hasOtherLabels ? ['labelIds'] : [])]
    record(ctx, caller, 'routine.updated', changed, { changed: names })
  }
  return want.status ? switchRoutine(ctx, caller, changed, want.status) : changed
}

/**
 * Pauses or resumes a routine. After a resume it continues with its next
 * scheduled time; times in between are skipped.
 */
export function switchRoutine(
  ctx: Context,
  caller: Caller,
  routine: RoutineRow,
  status: RoutineRow['status'],
): RoutineRow {
  if (routine.status === status) return routine
  if (status === 'active' && routine.assignee_agent_id === null) {
    throw unprocessable('assigneeAgentId', 'the routine has no assignee; set one before you resume it')
  }
  const changed = updateRoutineRow(ctx.db, routine.id, {
    status,
    next_due_at: status === 'active' ? (nextMoment(scheduleOf(routine), ctx.now) ?? null) : null,
    queued_due_at: null,
    updated_at: ctx.now,
  })
  record(ctx, caller, status === 'active' ? 'routine.resumed' : 'routine.paused', changed, {})
  return changed
}

/** Deletes a routine with its history. The issues that it created remain. */
export function deleteRoutine(ctx: Context, caller: Caller, id: string): RoutineRow {
  const routine = getOwnRoutine(ctx, caller, id)
  record(ctx, caller, 'routine.deleted', routine, {})
  deleteRoutineRow(ctx.db, id)
  return routine
}

function newAssignee(ctx: Context, caller: Caller, routine: RoutineRow, ref: string): string {
  const agent = getReferredAgent(ctx, routine.company_id, 'assigneeAgentId', ref)
  if (agent.id === routine.assignee_agent_id) return agent.id
  assertMayReassign(ctx, caller, agent)
  return liveAssignee(ctx, routine.company_id, agent.id).id
}

function liveAssignee(ctx: Context, companyId: string, ref: string): AgentRow {
  const agent = getReferredAgent(ctx, companyId, 'assigneeAgentId', ref)
  if (agent.status !== 'terminated') return agent
  throw new AppError('agent_not_ready', `assigneeAgentId: ${agent.name} is terminated and cannot be assigned issues.`, {
    agentId: agent.id,
    status: agent.status,
  })
}

/**
 * Requires the permission to assign a routine. A routine wakes its assignee
 * repeatedly, so an agent may choose only agents below it.
 */
function assertMayReassign(ctx: Context, caller: Caller, assignee: AgentRow | undefined): void {
  if (caller.type !== 'agent') return
  if (assignee && isAbove(ctx.db, { managerId: caller.agentId, agentId: assignee.id })) return
  throw forbidden(
    assignee
      ? `Only the board and the managers above ${assignee.name} may change its routines.`
      : 'Only the board may change a routine without an assignee.',
  )
}

/** Returns the schedule after a change. A cron expression replaces an interval, and the other way round. */
function scheduleAfter(before: Schedule, { cron, timeZone, intervalSec }: RoutineChange): Schedule {
  if (cron === undefined && timeZone === undefined && intervalSec === undefined) return before
  const after = {
    cron: cron === undefined ? (intervalSec ? null : before.cron) : cron,
    timeZone: timeZone === undefined ? (intervalSec || cron === null ? null : before.timeZone) : timeZone,
    intervalSec: intervalSec === undefined ? (cron ? null : before.intervalSec) : intervalSec,
  }
  assertValidSchedule(after)
  return after
}

function assertValidSchedule(schedule: Schedule): void {
  const faults = scheduleFaults(schedule)
  if (faults.length > 0) throw invalid(faults)
}

const labelsDiffer = (before: readonly string[], after: readonly string[]) =>
  before.length !== after.length || after.some((id) => !before.includes(id))

const record = (
  ctx: Context,
  caller: Caller,
  action: `routine.${'created' | 'updated' | 'paused' | 'resumed' | 'deleted'}`,
  routine: RoutineRow,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, {
    companyId: routine.company_id,
    action,
    entity: { type: 'routine', id: routine.id },
    agentId: routine.assignee_agent_id,
    details: { title: routine.title, ...details },
  })
