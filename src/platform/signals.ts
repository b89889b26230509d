/** Notifications for the executor and the scheduler. Each method is called after the commit of its cause. */
export interface SignalHandler {
  /** A live run has a stop reason: its processes must end. */
  stopRequested(runId: string): void
  /** A wake was queued or may start sooner, or a run ended: a run may be able to start. */
  wakeQueued(): void
  /** A delivery of a webhook was queued, or a webhook is active again. */
  deliveryQueued(): void
  /** A budget of the company or of one of its agents changed. */
  budgetChanged(companyId: string): void
  /** A run on another machine was claimed there, or reported. Not after a commit: reports are files. */
  runReported(runId: string): void
  /** A placement was removed. */
  placementChanged(name: string): void
}

/**
 * Calls from use cases to the runtime. They are separate from the live events,
 * because a client that watches events must not be able to hide a stop.
 */
export interface Signals extends SignalHandler {
  /** Registers a handler. @returns a function that removes it */
  handle(handler: Partial<SignalHandler>): () => void
}

/** @param onError receives each error of a handler; the other handlers still run */
export function createSignals(onError: (error: unknown) => void): Signals {
  const handlers = new Set<Partial<SignalHandler>>()
  const call = (run: (handler: Partial<SignalHandler>) => void) => {
    for (const handler of handlers) {
      try {
        run(handler)
      } catch (error) {
        onError(error)
      }
    }
  }
  return {
    stopRequested: (runId) => call((handler) => handler.stopRequested?.(runId)),
    wakeQueued: () => call((handler) => handler.wakeQueued?.()),
    runReported: (runId) => call((handler) => handler.runReported?.(runId)),
    placementChanged: (name) => call((handler) => handler.placementChanged?.(name)),
    deliveryQueued: () => call((handler) => handler.deliveryQueued?.()),
    budgetChanged: (companyId) => call((handler) => handler.budgetChanged?.(companyId)),
    handle(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
}
