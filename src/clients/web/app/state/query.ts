import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { type ApiError, toApiError } from './api.ts'
import { type LiveEvent, onEvent, onReconnect } from './live.ts'

/** Data that was loaded, with how that stands. */
export interface Query<T> {
  data: ReadonlySignal<T | undefined>
  /** The last load failed; `data` may hold what an earlier one brought. */
  error: ReadonlySignal<ApiError | undefined>
  /** Whether there is no data yet and the wait is long enough to show a skeleton. */
  isSlow: ReadonlySignal<boolean>
  reload(): Promise<void>
  /** Replaces the data without a request, for an optimistic change. @returns a function that undoes it */
  set(data: T): () => void
}

interface Entry<T> extends Query<T> {
  data: Signal<T | undefined>
  users: number
  isStale: boolean
  load: () => Promise<T>
  refetchOn: (event: LiveEvent) => boolean
  timer: ReturnType<typeof setTimeout> | undefined
}

const entries = new Map<string, Entry<unknown>>()

/** A wait that is shorter than this shows nothing. */
export const SKELETON_MS = 150

/** Events within this time cost one refetch. */
const GATHER_MS = 80

/**
 * Loads data once for each key and keeps it while the page is open. It is shown
 * at once when a page is opened again, and loaded anew when an event says that
 * it has changed.
 *
 * @param key names the data, such as `runs/<issue id>`; undefined loads nothing
 * @param refetchOn whether an event changes the data
 */
export function useQuery<T>(
  key: string | undefined,
  load: () => Promise<T>,
  refetchOn: (event: LiveEvent) => boolean = () => false,
): Query<T> {
  const latest = useRef({ load, refetchOn })
  latest.current = { load, refetchOn }
  const entry = useMemo(
    () => (key === undefined ? createEntry<T>(load, refetchOn) : entryOf(key, load, refetchOn)),
    [key],
  )
  entry.load = load
  entry.refetchOn = refetchOn
  // An effect would begin the request a frame later.
  useLayoutEffect(() => {
    if (key === undefined) return
    entry.users++
    if (entry.isStale) void entry.reload()
    return () => {
      entry.users--
    }
  }, [entry, key])
  return entry
}

/** Loads data before it is shown: for a link that the pointer is over. */
export function prefetch<T>(key: string, load: () => Promise<T>): void {
  const entry = entryOf(key, load, () => false)
  if (entry.isStale && entry.data.peek() === undefined) void entry.reload()
}

function entryOf<T>(key: string, load: Entry<T>['load'], refetchOn: Entry<T>['refetchOn']): Entry<T> {
  const known = entries.get(key) as Entry<T> | undefined
  if (known) return known
  const entry = createEntry(load, refetchOn)
  entries.set(key, entry as Entry<unknown>)
  return entry
}

function createEntry<T>(load: Entry<T>['load'], refetchOn: Entry<T>['refetchOn']): Entry<T> {
  const data = signal<T | undefined>(undefined)
  const error = signal<ApiError | undefined>(undefined)
  const isSlow = signal(false)
  let current = 0
  const entry: Entry<T> = {
    data,
    error,
    isSlow,
    users: 0,
    isStale: true,
    load,
    refetchOn,
    timer: undefined,
    set(value) {
      const before = data.peek()
      data.value = value
      return () => {
        if (data.peek() === value) data.value = before
      }
    },
    async reload() {
      const mine = ++current
      entry.isStale = false
      const slow = setTimeout(() => {
        if (data.peek() === undefined) isSlow.value = true
      }, SKELETON_MS)
      try {
        const value = await entry.load()
        if (mine !== current) return
        batch(() => {
          data.value = value
          error.value = undefined
        })
      } catch (thrown) {
        if (mine !== current) return
        entry.isStale = true
        error.value = toApiError(thrown)
      } finally {
        clearTimeout(slow)
        if (mine === current) isSlow.value = false
      }
    },
  }
  return entry
}

/** Marks data as old: what is shown is loaded again, the rest when it is shown next. */
function expire(entry: Entry<unknown>): void {
  entry.isStale = true
  if (entry.users === 0) return
  entry.timer ??= setTimeout(() => {
    entry.timer = undefined
    if (entry.users > 0 && entry.isStale) void entry.reload()
  }, GATHER_MS)
}

onEvent((event) => {
  for (const entry of entries.values()) {
    if (event.type === 'reset' || entry.refetchOn(event)) expire(entry)
  }
})

onReconnect(() => {
  for (const entry of entries.values()) if (entry.error.peek()) expire(entry)
})

/** Loads again whatever has a key that begins so. */
export function invalidate(prefix: string): void {
  for (const [key, entry] of entries) if (key.startsWith(prefix)) expire(entry)
}

/** Forgets everything, when another company is opened. */
export const clearQueries = () => entries.clear()
