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

/** Returns the results of a function for some items, without undefined ones. It pauses between slices of the items. */
export async function collectInSlices<Item, Result>(
  items: Iterable<Item>,
  pick: (item: Item) => Result | undefined,
): Promise<Result[]> {
  const pause = createPause()
  const results: Result[] = []
  for (const item of items) {
    const result = pick(item)
    if (result !== undefined) results.push(result)
    // Awaiting 50,000 times without a pause takes 0.1 s.
    const turn = pause()
    if (turn) await turn
  }
  return results
}
