/**
 * Creates a function that runs tasks, at most `max` at a time. Further tasks
 * wait, and start in the order of the calls.
 */
export function createSlots(max: number): <Value>(task: () => Promise<Value>) => Promise<Value> {
  let used = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    while (used >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    used++
    try {
      return await task()
    } finally {
      used--
      waiting.shift()?.()
    }
  }
}
