import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessEntry } from './process-entry.ts'
import { isLive, keyOf, type RunLeader, runTree, signalProcess } from './process-table.ts'

export interface EndTree extends RunLeader {
  /** How long the processes may take after SIGTERM, in milliseconds. */
  graceMs: number
  /** Each settles when there is reason to wait no longer than so many milliseconds more. */
  hurry?: readonly Promise<number>[]
}

/** What a program's leftovers get to end by themselves, in milliseconds. */
export const SHORT_GRACE_MS = 2_000

/** How long killing goes on against processes that start others meanwhile, in milliseconds. */
const KILL_MS = 800

/** Between two empty looks: long enough for a fork that one look can miss to show. */
const SECOND_LOOK_MS = 15

export interface TreeEnd {
  /** Every process that was found, ended or not. */
  found: ProcessEntry[]
  /** What lives on: stuck in the kernel, or not ours to signal. */
  left: ProcessEntry[]
}

/**
 * Ends every process of a run but its shim: SIGTERM, the grace, SIGKILL.
 * Each is verified again just before it is signalled. There is no event for
 * the end of a process that is not a child, so this looks again and again,
 * at the known ones only, and at the whole machine when those are gone.
 */
export async function endTree(options: EndTree): Promise<TreeEnd> {
  const found = new Map<string, ProcessEntry>()
  let deadline = performance.now() + options.graceMs
  for (const reason of options.hurry ?? []) {
    reason.then((ms) => {
      deadline = Math.min(deadline, performance.now() + ms)
    })
  }
  const foreign = new Set<string>()
  while (performance.now() < deadline) {
    const live = await lookTwice(options, foreign)
    if (live.length === 0) return { found: [...found.values()], left: [] }
    for (const entry of live) {
      const seen = found.has(keyOf(entry))
      found.set(keyOf(entry), entry)
      if (!seen) signalProcess(entry, 'SIGTERM')
    }
    await gone(live, () => deadline)
  }
  const left = await killTree(options, found, foreign)
  return { found: [...found.values()], left }
}

/**
 * Kills every process of a run but its shim, at once: those that are known
 * first, without a look at the machine. Returns what lives on.
 */
export async function killTree(
  leader: RunLeader,
  found: Map<string, ProcessEntry> = new Map(),
  foreign: Set<string> = new Set(),
): Promise<ProcessEntry[]> {
  const deadline = performance.now() + KILL_MS
  let live = [...found.values()]
  for (;;) {
    for (const entry of live) {
      found.set(keyOf(entry), entry)
      signalProcess(entry, 'SIGKILL')
    }
    const pause = performance.now() + 100
    await gone(live, () => Math.min(pause, deadline))
    live = await lookTwice(leader, foreign)
    if (live.length === 0 || performance.now() > deadline) return live
  }
}

/**
 * One look at a table that changes meanwhile can miss a process that was
 * forked behind it by one that ended before it: nobody there counts when two
 * looks agree.
 */
async function lookTwice(leader: RunLeader, foreign: Set<string>): Promise<ProcessEntry[]> {
  const live = runTree(leader, foreign)
  if (live.length > 0) return live
  await delay(SECOND_LOOK_MS)
  return runTree(leader, foreign)
}

/** Waits until none of the processes lives, or until the deadline, which may move. */
async function gone(entries: ProcessEntry[], deadline: () => number): Promise<void> {
  for (let pause = 2; entries.some(isLive); pause = Math.min(pause * 1.5, 100)) {
    const left = deadline() - performance.now()
    if (left <= 0) return
    await delay(Math.min(pause, left))
  }
}
