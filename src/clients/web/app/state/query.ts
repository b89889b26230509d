import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { type ApiError, toApiError } from './api.ts'
import { type LiveEvent, onEvent, onReconnect } from './live.ts'

/** The state of a query: its data, its error and whether it loads. */
export interface Query<T> {
  data: ReadonlySignal<T | undefined>
  /** The error of the last load. `data` may contain the result of an earlier load. */
  error: ReadonlySignal<ApiError | undefined>
  /** Whether there is no data yet and a skeleton should be displayed. */
  isSlow: ReadonlySignal<boolean>
  reload(): Promise<void>
  /** Replaces the data without a request, for an optimistic change. @returns a function that reverts it */
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

/** The delay before a skeleton is displayed, in milliseconds. */
export const SKELETON_MS = 150

/** The time in which several events cause one refetch, in milliseconds. */
const GATHER_MS = 80

/**
 * Loads data once for each key and caches it while the tab is open. A page that
 * is opened again displays the cached data immediately. Events that change the
 * data reload it.
 *
 * @param key the key of the data, such as `runs/<issue id>`; undefined loads nothing
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
  // Starts the request during rendering. An effect would start it one frame later.
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

/** Loads data in advance, for example while the pointer is over a link. */
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

/** Marks data as stale. Displayed data is reloaded now, other data when it is displayed next. */
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

/** Reloads all queries with a key that starts with the prefix. */
export function invalidate(prefix: string): void {
  for (const [key, entry] of entries) if (key.startsWith(prefix)) expire(entry)
}

/** Clears all data when another company is opened. */
export const clearQueries = () => entries.clear()
