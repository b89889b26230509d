import type { Fact } from '../../adapter/adapter.ts'
import type { RunSpec } from './run-files.ts'

/** The time limits of one run: its duration, and the time without output. */
export interface Limits {
  /** Resolves when a limit is reached. Otherwise it remains pending. */
  reached: Promise<'timed_out' | 'silent'>
  /** Notes that the command printed something. */
  noteOutput(): void
  close(): void
}

/** Detects a program that has finished its work but does not exit. */
export interface ResultWatch {
  /** Resolves when the program should be ended. Otherwise it remains pending. */
  overdue: Promise<void>
  noteFacts(facts: readonly Fact[]): void
  /** Notes that the program printed something. */
  noteOutput(): void
  close(): void
}

/** The time from a program's result, or its last output after it, to its exit, in milliseconds. */
const RESULT_GRACE_MS = 5_000

/**
 * Creates the watch of a program's result. A program that has reported its
 * result may wait for a background process forever, and one that gave up does
 * nothing more.
 */
export function createResultWatch(graceMs = RESULT_GRACE_MS): ResultWatch {
  const overdue = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(overdue.resolve, graceMs)
  }
  return {
    overdue: overdue.promise,
    noteFacts(facts) {
      if (facts.some((fact) => fact.kind === 'give_up')) overdue.resolve()
      if (facts.some((fact) => fact.kind === 'outcome')) wait()
    },
    noteOutput() {
      if (timer) wait()
    },
    close: () => clearTimeout(timer),
  }
}

/** The longest time a timer of Node can wait, in milliseconds: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Starts the time limits of a run, from now on. */
export function createLimits(spec: Pick<RunSpec, 'timeoutSec' | 'silenceSec'>): Limits {
  const reached = Promise.withResolvers<'timed_out' | 'silent'>()
  const silenceMs = spec.silenceSec === null ? null : spec.silenceSec * 1_000
  let lastOutput = performance.now()
  let silenceTimer: NodeJS.Timeout | undefined

  // The timer checks the latest output when it fires. Resetting it with every chunk would be expensive.
  const watchSilence = (limit: number) => {
    const left = lastOutput + limit - performance.now()
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
    noteOutput() {
      lastOutput = performance.now()
    },
    close() {
      clearTimeout(timer)
      clearTimeout(silenceTimer)
    },
  }
}
