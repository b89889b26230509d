/** An event in a company for live clients. It is published after its commit. */
export interface LiveEvent {
  /**
   * Increases monotonically, also across restarts. A client that reconnects
   * requests the events after the last one it received.
   */
  id: number
  companyId: string
  /** Such as `issue.checked_out` (an activity), `run.started` or `wake.waiting`. */
  type: string
  readonly data: unknown
}

export interface Events {
  /** The id of the latest event, or the id before the first one. */
  readonly last: number
  /** @param load returns the data of the event; called once, when a listener or a stream that resumes reads it */
  publish(companyId: string, type: string, load: () => unknown): void
  /**
   * @param onClose called when there will be no more events
   * @returns a function that ends the subscription
   */
  subscribe(listener: (event: LiveEvent) => void, onClose?: () => void): () => void
  /** Returns the stored events after an id, oldest first, or undefined if the id is too old. */
  since(id: number): LiveEvent[] | undefined
  /** Notifies every subscriber that there will be no more events. */
  close(): void
}

/** The number of past events that a client can resume from. */
const KEPT_EVENTS = 1_000

/**
 * @param startedAt determines the first id, which is higher than all ids of
 *   earlier servers: a client that reconnects after a restart never receives
 *   wrong events
 * @param onError receives each error of a listener; the other listeners still
 *   run
 */
export function createEvents(startedAt: Date, onError: (error: unknown) => void = () => {}): Events {
  const subscriptions = new Set<{ listener: (event: LiveEvent) => void; onClose: (() => void) | undefined }>()
  const stored: LiveEvent[] = []
  let closed = false
  let last = startedAt.getTime() * 1_000
  return {
    get last() {
      return last
    },
    publish(companyId, type, load) {
      const numbered = lazyEvent({ id: ++last, companyId, type }, load)
      stored.push(numbered)
      if (stored.length > KEPT_EVENTS) stored.shift()
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
      const oldest = stored[0]?.id ?? last + 1
      return id > last || id < oldest - 1 ? undefined : stored.filter((event) => event.id > id)
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
