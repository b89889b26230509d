import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import type { Context } from '../../platform/context.ts'
import { difference, fieldNames } from '../../platform/difference.ts'
import { AppError, unprocessable } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { GoalChange, GoalLevel, GoalRow, NewGoal } from './goal.ts'
import { assertNoCycle, getParentGoal, isLevelAbove, levelUnder } from './hierarchy.ts'
import { countGoalUses, deleteGoalRow, findGoal, insertGoal, listChildGoals, updateGoalRow } from './queries.ts'

/** Gets a goal. A goal of another company has the same error as a missing one. */
export function getGoal(ctx: Context, caller: Caller, id: string): GoalRow {
  const goal = findGoal(ctx.db, { id })
  return requireVisible(ctx, caller, goal, 'goal', id)
}

export function createGoal(ctx: Context, caller: Caller, companyId: string, want: NewGoal): GoalRow {
  const parent = want.parentId ? getParentGoal(ctx, companyId, want.parentId) : undefined
  const level = want.level ?? levelUnder(parent)
  assertLevelFits(level, parent)
  const goal = insertGoal(ctx.db, {
    id: uuid(),
    company_id: companyId,
    title: want.title,
    description: want.description ?? null,
    level,
    ...(want.status && { status: want.status }),
    parent_id: parent?.id ?? null,
    owner_agent_id: want.ownerAgentId ? getReferredAgent(ctx, companyId, 'ownerAgentId', want.ownerAgentId).id : null,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'goal.created', goal, { title: goal.title })
  return goal
}

/** Changes a goal. Its level must fit its parent and its children. */
export function updateGoal(ctx: Context, caller: Caller, id: string, want: GoalChange): GoalRow {
  const goal = getGoal(ctx, caller, id)
  const { company_id } = goal
  const owner = want.ownerAgentId && getReferredAgent(ctx, company_id, 'ownerAgentId', want.ownerAgentId).id
  const parentId = want.parentId === undefined ? goal.parent_id : want.parentId
  const parent = parentId === null ? undefined : getParentGoal(ctx, company_id, parentId)
  const level = want.level ?? goal.level
  if (parent) assertNoCycle(ctx, goal, parent)
  assertLevelFits(level, parent)
  if (listChildGoals(ctx.db, { parentId: id }).some((child) => isLevelAbove(child.level, level))) {
    throw unprocessable('level', `a goal below this one has a level above ${level}; change that goal first`)
  }
  const change = difference(goal, {
    title: want.title,
    description: want.description,
    level: want.level,
    status: want.status,
    parent_id: want.parentId,
    owner_agent_id: owner,
  })
  if (!change) return goal
  const updated = updateGoalRow(ctx.db, id, { ...change, updated_at: ctx.now })
  record(ctx, caller, 'goal.updated', updated, { title: updated.title, changed: fieldNames(change) })
  return updated
}

/** Deletes a goal without references. Returns the deleted goal. */
export function deleteGoal(ctx: Context, caller: Caller, id: string): GoalRow {
  const goal = getGoal(ctx, caller, id)
  const uses = countGoalUses(ctx.db, id)
  const used = Object.entries(uses).filter(([, count]) => count !== null && count > 0)
  if (used.length > 0) {
    const what = used.map(([kind, count]) => `${count} ${kind}`).join(', ')
    throw new AppError('conflict', `This goal is in use (${what}). Set its status to cancelled instead.`, uses)
  }
  record(ctx, caller, 'goal.deleted', goal, { title: goal.title })
  deleteGoalRow(ctx.db, id)
  return goal
}

function assertLevelFits(level: GoalLevel, parent: GoalRow | undefined): void {
  if (!parent || !isLevelAbove(level, parent.level)) return
  throw unprocessable('level', `${level} is above the parent's level, ${parent.level}`)
}

const record = (ctx: Context, caller: Caller, action: Action, goal: GoalRow, details: Record<string, unknown>) =>
  recordActivity(ctx, caller, { companyId: goal.company_id, action, entity: { type: 'goal', id: goal.id }, details })
