import type { RunSpec } from './run-files.ts'

/** The limits of one run: the whole time, and the time without output. */
export interface Limits {
  /** Settles when a limit is reached; otherwise never. */
  reached: Promise<'timed_out' | 'silent'>
  /** The command printed something. */
  heard(): void
  close(): void
}

/** The longest time a timer of Node can wait, in milliseconds: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1

export function createLimits(spec: Pick<RunSpec, 'timeoutSec' | 'silenceSec'>): Limits {
  const reached = Promise.withResolvers<'timed_out' | 'silent'>()
  const silenceMs = spec.silenceSec === null ? null : spec.silenceSec * 1_000
  let lastHeard = performance.now()
  let silenceTimer: NodeJS.Timeout | undefined

  // Looks back when it fires rather than being set again with every chunk.
  const watchSilence = (limit: number) => {
    const left = lastHeard + limit - performance.now()
    if (left <= 0) reached.resolve('silent')
    else silenceTimer = setTimeout(() => watchSilence(limit), Math.min(left, LONGEST_TIMER))
  }
  if (silenceMs !== null) watchSilence(silenceMs)
  const timer =
    spec.timeoutSec === null
      ? undefined
      : setTimeout(() => reached.resolve('timed_out'), Math.min(spec.timeoutSec * 1_000, LONGEST_TIMER))

  return {
    reached: reached.promise,
    heard() {
      lastHeard = performance.now()
    },
    close() {
      clearTimeout(timer)
      clearTimeout(silenceTimer)
    },
  }
}
