/** Something that happened in a company, for whoever watches it live. Published after its commit only. */
export interface LiveEvent {
  /** Counts up by one; a watcher that reconnects asks for what came after the last it saw. */
  id: number
  companyId: string
  /** Such as `issue.checked_out` (an activity), `run.started`, `wake.waiting`. */
  type: string
  data: unknown
}

export interface Events {
  publish(event: Omit<LiveEvent, 'id'>): void
  /** @returns a function that ends the subscription */
  subscribe(listener: (event: LiveEvent) => void): () => void
  /** The kept events after an id, oldest first, or undefined when that id is too old to resume from. */
  since(id: number): LiveEvent[] | undefined
}

/** How many past events a watcher can catch up on. */
const KEPT_EVENTS = 1_000

export function createEvents(): Events {
  const listeners = new Set<(event: LiveEvent) => void>()
  const kept: LiveEvent[] = []
  let last = 0
  return {
    publish(event) {
      const numbered = { ...event, id: ++last }
      kept.push(numbered)
      if (kept.length > KEPT_EVENTS) kept.shift()
      for (const listener of listeners) listener(numbered)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    since(id) {
      const oldest = kept[0]?.id ?? last + 1
      return id > last || id < oldest - 1 ? undefined : kept.filter((event) => event.id > id)
    },
  }
}
