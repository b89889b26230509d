import type { Issue, Run } from '../state/types.ts'

export type IssueStatus = Issue['status']
export type Priority = Issue['priority']

/** The statuses in the order of boards and lists. */
export const STATUSES: readonly IssueStatus[] = [
  'in_progress',
  'in_review',
  'blocked',
  'todo',
  'backlog',
  'done',
  'cancelled',
]
export const OPEN: readonly IssueStatus[] = STATUSES.slice(0, 5)
export const PRIORITIES: readonly Priority[] = ['critical', 'high', 'medium', 'low']

export const STATUS_NAME: Record<IssueStatus, string> = {
  backlog: 'Backlog',
  todo: 'Todo',
  in_progress: 'In progress',
  in_review: 'In review',
  blocked: 'Blocked',
  done: 'Done',
  cancelled: 'Cancelled',
}

/** The filled part of the circle, by status. */
const FULL: Partial<Record<IssueStatus, number>> = { in_progress: 0.5, in_review: 0.75 }

/** The icon of an issue's status. The shapes differ, so color is not needed to identify them. */
export function StatusGlyph({ status }: { status: IssueStatus }) {
  return (
    <svg
      class={`glyph status-${status}`}
      viewBox="0 0 14 14"
      width="14"
      height="14"
      role="img"
      aria-label={STATUS_NAME[status]}
    >
      {status === 'done' || status === 'cancelled' ? (
        <>
          <circle cx="7" cy="7" r="6.5" fill="currentColor" stroke="none" />
          <path class="cut" d={status === 'done' ? 'M4 7.2 6.2 9.4 10.2 5' : 'M4.8 4.8 9.2 9.2M9.2 4.8 4.8 9.2'} />
        </>
      ) : (
        <circle cx="7" cy="7" r="5.75" stroke-dasharray={status === 'backlog' ? '1.6 1.55' : undefined} />
      )}
      {FULL[status] !== undefined && (
        <circle
          class="pie"
          cx="7"
          cy="7"
          r="1.75"
          stroke-width="3.5"
          stroke-dasharray={`${FULL[status] * 11} 11`}
          transform="rotate(-90 7 7)"
        />
      )}
      {status === 'blocked' && <path d="M4.2 7h5.6" stroke-width="2" />}
    </svg>
  )
}

/** The bars of the priority icon, from the lowest. The stroke rounds their corners. */
const BARS = ['M1.5 9.5h2v3h-2Z', 'M6 6h2v6.5H6Z', 'M10.5 2.5h2v10h-2Z']

/** The icon of a priority: one to three filled bars, or a filled square with a mark for critical. */
export function PriorityGlyph({ priority }: { priority: Priority }) {
  const full = 4 - PRIORITIES.indexOf(priority)
  return (
    <svg
      class={`glyph priority-${priority}`}
      viewBox="0 0 14 14"
      width="14"
      height="14"
      role="img"
      aria-label={`${priority} priority`}
    >
      {priority === 'critical' ? (
        <>
          <rect x="0.5" y="0.5" width="13" height="13" rx="3" fill="currentColor" stroke="none" />
          <path class="cut" d="M7 3.5v4M7 10.2v.1" />
        </>
      ) : (
        // Few elements: a list has one of these icons in each row.
        <>
          <path class="bars" d={BARS.slice(0, full).join('')} />
          {full < BARS.length && <path class="bars faint" d={BARS.slice(full).join('')} />}
        </>
      )}
    </svg>
  )
}

const RUN_SHAPE: Record<Run['status'], string> = {
  starting: 'M7 3.8V7',
  running: 'M5.4 4.6v4.8L9.6 7Z',
  succeeded: 'M4 7.2 6.2 9.4 10.2 5',
  failed: 'M4.8 4.8 9.2 9.2M9.2 4.8 4.8 9.2',
  timed_out: 'M7 3.8V7l2 1.6',
  cancelled: 'M4 7h6',
  lost: 'M5.4 5.3a1.6 1.6 0 1 1 2.4 1.5c-.5.3-.8.6-.8 1.1M7 10.1v.1',
}

/** The icon of a run's status. */
export function RunGlyph({ status }: { status: Run['status'] }) {
  return (
    <svg
      class={`glyph run-${status}`}
      viewBox="0 0 14 14"
      width="14"
      height="14"
      role="img"
      aria-label={status.replace('_', ' ')}
    >
      <circle cx="7" cy="7" r="6.25" />
      <path d={RUN_SHAPE[status]} fill={status === 'running' ? 'currentColor' : 'none'} />
    </svg>
  )
}
