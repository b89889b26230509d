import { type IssueStatus, STATUS_NAME } from '../../kit/status.tsx'
import { toast } from '../../kit/toast.tsx'
import { act } from '../../state/act.ts'
import { request, type Sent } from '../../state/api.ts'
import { issues } from '../../state/company.ts'
import type { Issue } from '../../state/types.ts'

type Change = NonNullable<Sent<'PATCH /api/issues/:issueId'>['body']>

/** Changes an issue: at once in the page, and back with the server's reason when it refuses. */
export async function changeIssue(issue: Issue, change: Change): Promise<boolean> {
  const changed = await act(
    () => request('PATCH /api/issues/:issueId', { params: { issueId: issue.id }, body: change }),
    () => issues.patch(issue.id, change as Partial<Issue>),
  )
  if (!changed) return false
  const { comment, ...row } = changed
  issues.put(row)
  return true
}

/** Changes the status, with a way back where the way is one step. */
export async function moveIssue(issue: Issue, status: IssueStatus): Promise<void> {
  if (issue.status === status) return
  const isReopened = issue.status === 'done' || issue.status === 'cancelled'
  const body: Change = isReopened && status === 'todo' ? { reopen: true } : { status }
  await changeIssue(issue, body)
}

/** The steps that close an issue from each status, as the lifecycle allows them. */
const STEPS_TO_DONE: Partial<Record<IssueStatus, readonly IssueStatus[]>> = {
  backlog: ['todo', 'in_progress', 'done'],
  todo: ['in_progress', 'done'],
  blocked: ['in_progress', 'done'],
  in_progress: ['done'],
  in_review: ['done'],
}

/** Closes an issue as done: takes the legal steps one by one, as the person who looks. */
export async function closeIssue(issue: Issue, userId: string): Promise<void> {
  const undo = issues.patch(issue.id, { status: 'done' })
  let current: Issue = issue
  for (const status of STEPS_TO_DONE[issue.status] ?? []) {
    const isUnowned = current.assigneeAgentId === null && current.assigneeUserId === null
    const body: Change = { status, ...(status === 'in_progress' && isUnowned && { assigneeUserId: userId }) }
    const changed = await act(() => request('PATCH /api/issues/:issueId', { params: { issueId: issue.id }, body }))
    if (!changed) {
      undo()
      issues.put(current)
      return
    }
    const { comment, ...row } = changed
    current = row
  }
  issues.put(current)
  toast(`${issue.identifier} is ${STATUS_NAME.done.toLowerCase()}.`, { undo: () => void moveIssue(current, 'todo') })
}
