import { LISTED_STATUSES } from '../../../first-requests.ts'
import { type IssueStatus, type Priority, STATUSES } from '../../kit/status.tsx'
import type { Issue } from '../../state/types.ts'

/** The filter of a list of issues. It is part of the address, so it can be shared as a link. */
export interface Filter {
  status: readonly IssueStatus[]
  /** The id of an agent or a person. */
  assignee: string | undefined
  priority: Priority | undefined
  projectId: string | undefined
  goalId: string | undefined
  labelId: string | undefined
  /** Whether only unread issues match. */
  isUnread: boolean
  q: string | undefined
  view: 'list' | 'board'
}

/** The default statuses, if the address has none. */
export const DEFAULT_STATUSES: readonly IssueStatus[] = LISTED_STATUSES

export function readFilter(query: Record<string, string>): Filter {
  const named = (query.status ?? '').split(',')
  const status = STATUSES.filter((one) => named.includes(one))
  return {
    status: status.length > 0 ? status : DEFAULT_STATUSES,
    assignee: query.assignee || undefined,
    priority: (query.priority as Priority | undefined) || undefined,
    projectId: query.project || undefined,
    goalId: query.goal || undefined,
    labelId: query.label || undefined,
    isUnread: query.unread === 'true',
    q: query.q || undefined,
    view: query.view === 'board' ? 'board' : 'list',
  }
}

/** Converts the filter to the query of an address. Default values are omitted. */
export function toQuery(filter: Filter): string {
  const isDefault = filter.status.join() === DEFAULT_STATUSES.join()
  const fields = {
    view: filter.view === 'board' ? 'board' : undefined,
    status: isDefault ? undefined : filter.status.join(','),
    assignee: filter.assignee,
    priority: filter.priority,
    project: filter.projectId,
    goal: filter.goalId,
    label: filter.labelId,
    unread: filter.isUnread ? 'true' : undefined,
    q: filter.q,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value) query.set(name, value)
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Whether the filter has any value besides the view. */
export const isFiltered = (filter: Filter) => toQuery({ ...filter, view: 'list' }) !== ''

/** Whether an issue matches the filter, except the search text, which only the server can match. */
export const matches = (filter: Filter, issue: Issue) =>
  (filter.assignee === undefined ||
    filter.assignee === issue.assigneeAgentId ||
    filter.assignee === issue.assigneeUserId) &&
  (filter.priority === undefined || filter.priority === issue.priority) &&
  (filter.projectId === undefined || filter.projectId === issue.projectId) &&
  (filter.goalId === undefined || filter.goalId === issue.goalId) &&
  (filter.labelId === undefined || issue.labelIds.includes(filter.labelId)) &&
  (!filter.isUnread || issue.unread)
