import { signal } from '@preact/signals'
import { ago, duration, exactTime } from './format.ts'

/** The current time for relative texts. It changes every ten seconds. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 10_000)

/** A time relative to now. The tooltip has the exact time; it is formatted when it is needed, because a list has many. */
export function Ago({ at }: { at: string }) {
  return (
    <time
      dateTime={at}
      onPointerEnter={(event) => {
        event.currentTarget.title = exactTime(at)
      }}
    >
      {ago(at, Math.max(now.value, Date.now()))}
    </time>
  )
}

const second = signal(Date.now())
setInterval(() => {
  second.value = Date.now()
}, 1_000)

/** The duration of something that ended, or the time since its start. */
export function Took({ from, to }: { from: string; to?: string | null | undefined }) {
  const end = to ? Date.parse(to) : second.value
  return <span class="num">{duration(end - Date.parse(from))}</span>
}
