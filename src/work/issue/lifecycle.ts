import { AppError } from '../../platform/errors.ts'

export const ISSUE_STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

/**
 * The statuses that may follow each status, from the contract's table; every
 * status that is not terminal may also become cancelled. Checkout, release and
 * reopening are separate operations.
 */
export const NEXT: Record<IssueStatus, readonly IssueStatus[]> = {
  backlog: ['todo', 'cancelled'],
  todo: ['in_progress', 'cancelled'],
  in_progress: ['in_review', 'blocked', 'done', 'cancelled'],
  in_review: ['done', 'in_progress', 'cancelled'],
  blocked: ['todo', 'in_progress', 'cancelled'],
  done: [],
  cancelled: [],
}

/** Whether no status follows. Only reopening leaves a terminal status. */
export const isTerminal = (status: IssueStatus) => NEXT[status].length === 0

/** The statuses that are not terminal. */
export const OPEN_STATUSES = ISSUE_STATUSES.filter((status) => !isTerminal(status))

/** The status of an issue that a caller reopens. */
export const STATUS_AFTER_REOPEN: IssueStatus = 'todo'

/** Returns the status of an issue after its release: `in_progress` becomes `todo`, any other status does not change. */
export const statusAfterRelease = (status: IssueStatus): IssueStatus => (status === 'in_progress' ? 'todo' : status)

const statusesBefore = (to: IssueStatus) => ISSUE_STATUSES.filter((from) => NEXT[from].includes(to))

/** Returns the shortest series of transitions between two statuses, without the first one; undefined if none leads there. */
export function stepsTo(from: IssueStatus, to: IssueStatus): IssueStatus[] | undefined {
  const paths: IssueStatus[][] = [[from]]
  const seen = new Set<IssueStatus>([from])
  for (const path of paths) {
    const last = path[path.length - 1]!
    if (last === to) return path.slice(1)
    for (const next of NEXT[last]) {
      if (seen.has(next)) continue
      seen.add(next)
      paths.push([...path, next])
    }
  }
  return undefined
}

/** The default `expectedStatuses` of a checkout: `todo`, `in_review`, `blocked`. */
export const CHECKED_OUT_FROM = statusesBefore('in_progress')

/**
 * Refuses a transition that `NEXT` does not contain. The error lists the
 * allowed ones. The current status is always allowed.
 *
 * @throws AppError 422 `invalid_transition`
 */
export function assertTransition(issue: { identifier: string; status: IssueStatus }, to: IssueStatus): void {
  const allowed = NEXT[issue.status]
  if (issue.status === to || allowed.includes(to)) return
  const instead = isTerminal(issue.status)
    ? 'That status is final; `reopen: true` sets it to todo again.'
    : `From there it can go to ${allowed.join(', ')}.`
  throw new AppError(
    'invalid_transition',
    `${issue.identifier} is ${issue.status} and cannot become ${to}. ${instead}`,
    {
      from: issue.status,
      to,
      allowed,
    },
  )
}
