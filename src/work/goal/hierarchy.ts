import type { Context } from '../../platform/context.ts'
import { unknownReference, unprocessable } from '../../platform/errors.ts'
import { GOAL_LEVELS, type GoalLevel, type GoalRow } from './goal.ts'
import { findGoal } from './queries.ts'

/** Returns the default level of a goal: one below its parent, and `company` at the top. */
export function levelUnder(parent: GoalRow | undefined): GoalLevel {
  if (!parent) return GOAL_LEVELS[0]
  return GOAL_LEVELS[Math.min(depthOf(parent.level) + 1, GOAL_LEVELS.length - 1)]!
}

/** Whether one level is above another. */
export const isLevelAbove = (level: GoalLevel, other: GoalLevel) => depthOf(level) < depthOf(other)

const depthOf = (level: GoalLevel) => GOAL_LEVELS.indexOf(level)

/**
 * Returns the goal that `parentId` refers to.
 *
 * @throws AppError 422 if the company has no such goal
 */
export function getParentGoal(ctx: Context, companyId: string, id: string): GoalRow {
  const parent = findGoal(ctx.db, { id })
  if (parent?.company_id !== companyId) throw unknownReference('parentId', 'goal')
  return parent
}

/** Refuses a parent that is the goal itself or below it. */
export function assertNoCycle(ctx: Context, goal: GoalRow, parent: GoalRow): void {
  for (
    let above: GoalRow | undefined = parent;
    above;
    above = above.parent_id ? findGoal(ctx.db, { id: above.parent_id }) : undefined
  ) {
    if (above.id === goal.id) throw unprocessable('parentId', 'a goal cannot be its own descendant')
  }
}

/** Sorts goals depth first: each goal follows its parent. The order of siblings does not change. */
export function inTreeOrder(goals: readonly GoalRow[]): GoalRow[] {
  const byParent = Map.groupBy(goals, (goal) => goal.parent_id)
  const waiting = [...(byParent.get(null) ?? [])].reverse()
  const sorted: GoalRow[] = []
  for (let goal = waiting.pop(); goal; goal = waiting.pop()) {
    sorted.push(goal)
    waiting.push(...[...(byParent.get(goal.id) ?? [])].reverse())
  }
  return sorted
}
