/** Something that happened in a company, for whoever watches it live. Published after its commit only. */
export interface LiveEvent {
  /** Counts up, over restarts of the server too; a watcher that reconnects asks for what came after the last it saw. */
  id: number
  companyId: string
  /** Such as `issue.checked_out` (an activity), `run.started`, `wake.waiting`. */
  type: string
  readonly data: unknown
}

export interface Events {
  /** The id of the latest event, or the one before the first. */
  readonly last: number
  /** @param load returns the data of the event; called once, when a listener or a stream that resumes reads it */
  publish(companyId: string, type: string, load: () => unknown): void
  /**
   * @param onClose called when there will be no more events
   * @returns a function that ends the subscription
   */
  subscribe(listener: (event: LiveEvent) => void, onClose?: () => void): () => void
  /** The kept events after an id, oldest first, or undefined when that id is too old to resume from. */
  since(id: number): LiveEvent[] | undefined
  /** Tells every subscriber that there will be no more. */
  close(): void
}

/** How many past events a watcher can catch up on. */
const KEPT_EVENTS = 1_000

/**
 * @param startedAt where ids begin: above all those of a server before this
 * one, so that a watcher which outlives a restart is never shown wrong events
 * @param onError receives what a listener throws; the other listeners run regardless
 */
export function createEvents(startedAt: Date, onError: (error: unknown) => void = () => {}): Events {
  const subscriptions = new Set<{ listener: (event: LiveEvent) => void; onClose: (() => void) | undefined }>()
  const kept: LiveEvent[] = []
  let closed = false
  let last = startedAt.getTime() * 1_000
  return {
    get last() {
      return last
    },
    publish(companyId, type, load) {
      const numbered = lazyEvent({ id: ++last, companyId, type }, load)
      kept.push(numbered)
      if (kept.length > KEPT_EVENTS) kept.shift()
      for (const { listener } of subscriptions) {
        try {
          listener(numbered)
        } catch (error) {
          onError(error)
        }
      }
    },
    subscribe(listener, onClose) {
      if (closed) onClose?.()
      const subscription = { listener, onClose }
      subscriptions.add(subscription)
      return () => subscriptions.delete(subscription)
    },
    since(id) {
      const oldest = kept[0]?.id ?? last + 1
      return id > last || id < oldest - 1 ? undefined : kept.filter((event) => event.id > id)
    },
    close() {
      closed = true
      for (const { onClose } of subscriptions) onClose?.()
    },
  }
}

function lazyEvent(event: Omit<LiveEvent, 'data'>, load: () => unknown): LiveEvent {
  let loaded: { data: unknown } | undefined
  return {
    ...event,
    get data() {
      loaded ??= { data: load() }
      return loaded.data
    },
  }
}
