import type { IssueStatus } from '../../kit/status.tsx'
import { act } from '../../state/act.ts'
import { request, type Sent } from '../../state/api.ts'
import { issues } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue } from '../../state/types.ts'

type Change = NonNullable<Sent<'PATCH /api/issues/:issueId'>['body']>

/**
 * Changes an issue in the page immediately. If the server rejects the change, it reverts it
 * and displays the reason.
 */
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

/** Changes the status, and offers to undo it if one transition leads back. */
export async function moveIssue(issue: Issue, status: IssueStatus): Promise<void> {
  if (issue.status === status) return
  const isReopened = issue.status === 'done' || issue.status === 'cancelled'
  const body: Change = isReopened && status === 'todo' ? { reopen: true } : { status }
  await changeIssue(issue, body)
}

/** Marks an issue as read or unread for the person. */
export async function setUnread(issue: Issue, unread: boolean): Promise<void> {
  const endpoint = unread ? 'DELETE /api/issues/:issueId/read' : 'POST /api/issues/:issueId/read'
  const changed = await act(
    () => request(endpoint, { params: { issueId: issue.id } }) as Promise<Issue>,
    () => issues.patch(issue.id, { unread }),
  )
  if (changed) issues.put(changed)
}

/** Closes an issue as done, from any open status. */
export async function closeIssue(issue: Issue): Promise<void> {
  const closed = await act(
    () => request('POST /api/issues/:issueId/close', { params: { issueId: issue.id } }),
    () => issues.patch(issue.id, { status: 'done' }),
  )
  if (!closed) return
  issues.put(closed)
  toast(`${issue.identifier} is done.`, { undo: () => void moveIssue(closed, 'todo') })
}
