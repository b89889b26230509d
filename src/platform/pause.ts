import { setImmediate as nextTurn } from 'node:timers/promises'

/** The time that long work on the main thread may take before it lets other requests run, in milliseconds. */
const SLICE_MS = 10

/** Returns a function to call between the steps of long work. It lets other requests run if a slice of time has passed. */
export function createPause(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined
    return nextTurn().then(() => {
      since = performance.now()
    })
  }
}
