import type { ComponentChildren } from 'preact'
import { reasonOf } from '../state/act.ts'
import type { Query } from '../state/query.ts'
import { Button } from './button.tsx'

/** The state of a page or a section without content: one sentence and the next action. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

/** An error message with a retry button. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{reasonOf(error)}</p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  )
}

/** Grey lines in place of content that is loading. */
export function Skeleton({ rows = 8, height = 32 }: { rows?: number; height?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} style={{ height: `${height}px`, '--share': `${35 + ((index * 37) % 45)}%` }} />
      ))}
    </div>
  )
}

/** Displays a query: its data, a skeleton while the first load is slow, or its error with a retry button. */
export function Loaded<T>({
  query,
  children,
  skeleton,
}: {
  query: Query<T>
  children: (data: T) => ComponentChildren
  skeleton?: ComponentChildren
}) {
  const data = query.data.value
  if (data !== undefined) return <>{children(data)}</>
  if (query.error.value) return <Failure error={query.error.value} onRetry={() => void query.reload()} />
  return query.isSlow.value ? <>{skeleton ?? <Skeleton />}</> : null
}
