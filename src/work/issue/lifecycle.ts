import { AppError } from '../../platform/errors.ts'

export const ISSUE_STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

/**
 * What may follow what: the contract's table, and that whatever is not yet at
 * its end can be cancelled. Checkout, release and reopening are not in it:
 * they are acts of their own.
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

/** Nothing follows these; only reopening leads out. */
export const isTerminal = (status: IssueStatus) => NEXT[status].length === 0

/** Where there is still something to do. */
export const OPEN_STATUSES = ISSUE_STATUSES.filter((status) => !isTerminal(status))

/** The status of an issue that a caller reopens. */
export const STATUS_AFTER_REOPEN: IssueStatus = 'todo'

/** Returns the status of an issue after its release: work in progress becomes todo, any other status stays. */
export const statusAfterRelease = (status: IssueStatus): IssueStatus => (status === 'in_progress' ? 'todo' : status)

export const statusesBefore = (to: IssueStatus) => ISSUE_STATUSES.filter((from) => NEXT[from].includes(to))

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

/** What a checkout takes an issue from when its caller names nothing: `todo`, `in_review`, `blocked`. */
export const CHECKED_OUT_FROM = statusesBefore('in_progress')

/** Refuses a transition that the table does not have, and says which it has. Staying where it is is none. */
export function assertTransition(issue: { identifier: string; status: IssueStatus }, to: IssueStatus): void {
  const allowed = NEXT[issue.status]
  if (issue.status === to || allowed.includes(to)) return
  const instead = isTerminal(issue.status)
    ? 'Nothing follows that; `reopen: true` makes it todo again.'
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
