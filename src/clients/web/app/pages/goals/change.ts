import { act } from '../../state/act.ts'
import { request, type Sent } from '../../state/api.ts'
import { companyIdNow, goals } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Goal } from '../../state/types.ts'

export const GOAL_STATUSES = ['planned', 'active', 'achieved', 'cancelled'] as const
export const LEVELS = ['company', 'team', 'agent', 'task'] as const

type Change = NonNullable<Sent<'PATCH /api/goals/:goalId'>['body']>

/** Changes a goal in the page immediately, and reverts the change if the server rejects it. */
export async function changeGoal(goal: Goal, change: Change): Promise<boolean> {
  const saved = await act(
    () => request('PATCH /api/goals/:goalId', { params: { goalId: goal.id }, body: change }),
    () => goals.patch(goal.id, change as Partial<Goal>),
  )
  if (saved) goals.put(saved)
  return saved !== undefined
}

/** @returns whether the goal was deleted */
export async function deleteGoal(goal: Goal): Promise<boolean> {
  const removed = await act(() => request('DELETE /api/goals/:goalId', { params: { goalId: goal.id } }))
  if (!removed) return false
  goals.remove(goal.id)
  const { title, description, level, status, parentId, ownerAgentId } = goal
  toast(`“${title}” was deleted.`, {
    undo: () =>
      void act(async () =>
        goals.put(
          await request('POST /api/companies/:companyId/goals', {
            params: { companyId: companyIdNow() },
            body: { title, description, level, status, parentId, ownerAgentId },
          }),
        ),
      ),
  })
  return true
}
