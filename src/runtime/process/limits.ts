import type { Fact } from '../../adapter/adapter.ts'
import type { RunSpec } from './run-files.ts'

/** The limits of one run: the whole time, and the time without output. */
export interface Limits {
  /** Settles when a limit is reached; otherwise never. */
  reached: Promise<'timed_out' | 'silent'>
  /** The command printed something. */
  heard(): void
  close(): void
}

/** Watches for the end of a program that has said its last word. */
export interface LastWord {
  /** Settles when the program is to be ended, though it did not exit; otherwise never. */
  over: Promise<void>
  note(facts: readonly Fact[]): void
  /** The program printed something. */
  heard(): void
  close(): void
}

/** What a program may take to exit after its result, in milliseconds, unless it prints more. */
const RESULT_GRACE_MS = 5_000

/**
 * A program that has reported its result may wait for a background process
 * for ever; one that gave up does nothing any more.
 */
export function createLastWord(graceMs = RESULT_GRACE_MS): LastWord {
  const over = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(over.resolve, graceMs)
  }
  return {
    over: over.promise,
    note(facts) {
      if (facts.some((fact) => fact.kind === 'give_up')) over.resolve()
      if (facts.some((fact) => fact.kind === 'outcome')) wait()
    },
    heard() {
      if (timer) wait()
    },
    close: () => clearTimeout(timer),
  }
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
