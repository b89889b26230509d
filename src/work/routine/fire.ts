import { recordActivity } from '../../access/activity/record.ts'
import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { createIssue } from '../issue/create.ts'
import { findLabelIds, findOpenIssueOf, forgetOldRuns, insertRoutineRun, updateRoutineRow } from './queries.ts'
import type { RoutineRow, RoutineRunRow } from './routine.ts'

/** The maximum number of entries in the history of a routine. */
const KEPT_RUNS = 1_000

/**
 * Runs one scheduled time of a routine: creates the issue, which wakes the
 * assignee, or records in the history why not. The server is the creator of the
 * issue, so that the issue also wakes the agent that made the routine, and the
 * routine continues if its maker is gone.
 */
export function fireRoutine(ctx: Context, routine: RoutineRow, dueAt: string): RoutineRunRow {
  const moment = { routine, dueAt, source: 'schedule' } as const
  const reason = obstacleOf(ctx, routine)
  if (reason !== undefined) return note(ctx, moment, { outcome: 'skipped', reason })
  const open = routine.overlap === 'allow' ? undefined : findOpenIssueOf(ctx.db, { routineId: routine.id })
  if (!open) return create(ctx, SYSTEM, moment)
  if (routine.overlap === 'skip') {
    return note(ctx, moment, { outcome: 'skipped', reason: `${open.identifier} is still ${open.status}.` })
  }
  if (routine.queued_due_at !== null) {
    const reason = `${open.identifier} is still ${open.status}, and the time ${routine.queued_due_at} is already queued.`
    return note(ctx, moment, { outcome: 'skipped', reason })
  }
  updateRoutineRow(ctx.db, routine.id, { queued_due_at: dueAt })
  return note(ctx, moment, { outcome: 'queued', reason: `Queued until ${open.identifier} is done or cancelled.` })
}

/** Runs a queued time of a routine if its previous issue has ended and no other obstacle exists. */
export function fireQueued(ctx: Context, routine: RoutineRow): void {
  if (findOpenIssueOf(ctx.db, { routineId: routine.id }) || obstacleOf(ctx, routine) !== undefined) return
  updateRoutineRow(ctx.db, routine.id, { queued_due_at: null })
  create(ctx, SYSTEM, { routine, dueAt: routine.queued_due_at!, source: 'schedule' })
}

/** Creates a routine's issue at a caller's request, also if the routine is paused. */
export function runRoutine(ctx: Context, caller: Caller, routine: RoutineRow): RoutineRunRow {
  const reason = obstacleOf(ctx, routine)
  if (reason !== undefined) throw new AppError('conflict', reason)
  const open = routine.overlap === 'allow' ? undefined : findOpenIssueOf(ctx.db, { routineId: routine.id })
  if (open) {
    const message = `${open.identifier}, the issue that this routine created last, is still ${open.status}. Finish it first, or set overlap to allow.`
    throw new AppError('conflict', message, { issueId: open.id, identifier: open.identifier })
  }
  return create(ctx, caller, { routine, dueAt: ctx.now, source: 'by_hand' })
}

/** Returns why a routine cannot create an issue now, as a sentence; undefined if it can. */
function obstacleOf(ctx: Context, routine: RoutineRow): string | undefined {
  if (findFreeze(ctx.db)) return 'All runs are frozen.'
  const company = findCompany(ctx.db, { id: routine.company_id })!
  if (company.stopped_at !== null) return 'The company is stopped.'
  if (company.status !== 'active') return `The company is ${company.status}.`
  const agent = routine.assignee_agent_id === null ? undefined : findAgent(ctx.db, { id: routine.assignee_agent_id })
  if (!agent) return 'The routine has no assignee. Set one.'
  if (agent.status === 'terminated') return `The assignee ${agent.name} is terminated. Set another one.`
  if (agent.status === 'pending_approval') return `The assignee ${agent.name} is pending the approval of the board.`
  return undefined
}

interface Moment {
  routine: RoutineRow
  dueAt: string
  source: RoutineRunRow['source']
}

function create(ctx: Context, caller: Caller, moment: Moment): RoutineRunRow {
  const { routine } = moment
  const issue = createIssue(ctx, caller, routine.company_id, {
    title: routine.title,
    description: routine.description,
    priority: routine.priority,
    assigneeAgentId: routine.assignee_agent_id,
    parentId: routine.parent_id,
    // If omitted, they default to those of the parent.
    ...(routine.project_id !== null && { projectId: routine.project_id }),
    ...(routine.goal_id !== null && { goalId: routine.goal_id }),
    labelIds: findLabelIds(ctx.db, [routine.id])(routine.id),
  })
  recordActivity(ctx, caller, {
    companyId: routine.company_id,
    action: 'routine.fired',
    entity: { type: 'routine', id: routine.id },
    agentId: routine.assignee_agent_id,
    details: { title: routine.title, issueId: issue.id, identifier: issue.identifier, dueAt: moment.dueAt },
  })
  return note(ctx, moment, { outcome: 'created', issue_id: issue.id })
}

function note(
  ctx: Context,
  { routine, dueAt, source }: Moment,
  what: Pick<RoutineRunRow, 'outcome'> & Partial<RoutineRunRow>,
): RoutineRunRow {
  const run = insertRoutineRun(ctx.db, {
    id: uuid(),
    company_id: routine.company_id,
    routine_id: routine.id,
    source,
    due_at: dueAt,
    fired_at: ctx.now,
    ...what,
  })
  forgetOldRuns(ctx.db, { routineId: routine.id, keep: KEPT_RUNS })
  return run
}
