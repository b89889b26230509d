import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessEntry } from './process-entry.ts'
import { isLive, keyOf, type RunLeader, runTree, signalProcess } from './process-table.ts'

export interface EndTree extends RunLeader {
  /** How long the processes may take after SIGTERM, in milliseconds. */
  graceMs: number
  /** The process that only waits for the command: it is left to end by itself. */
  waiter?: number | undefined
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
  /** Every process that was found, ended or not, without what only isolates the run. */
  found: ProcessEntry[]
  /** What lives on: stuck in the kernel, or not ours to signal. */
  left: ProcessEntry[]
}

/**
 * Ends every process of a run but its shim: SIGTERM, the grace, SIGKILL.
 * Each is verified again just before it is signalled. There is no event for
 * the end of a process that is not a child, so this looks again and again,
 * at the known ones only, and at the whole machine when those are gone. The
 * first process of the run's PID namespace goes last: the kernel kills all
 * others with it.
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
    if (live.every(isNamespaceInit)) return { found: [...found.values()], left: await kill(live) }
    for (const entry of live) {
      if (found.has(keyOf(entry)) || isNamespaceInit(entry)) continue
      found.set(keyOf(entry), entry)
      if (entry.pid !== options.waiter) signalProcess(entry, 'SIGTERM')
    }
    await gone([...found.values()], () => deadline)
  }
  const left = await killTree(options, found, foreign)
  return { found: [...found.values()].filter((entry) => !isNamespaceInit(entry)), left }
}

const isNamespaceInit = ({ namespacePid }: ProcessEntry) => namespacePid === 1

/** Kills processes. Returns those that live on. */
async function kill(entries: ProcessEntry[]): Promise<ProcessEntry[]> {
  const deadline = performance.now() + KILL_MS
  for (const entry of entries) signalProcess(entry, 'SIGKILL')
  await gone(entries, () => deadline)
  return entries.filter(isLive)
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
  if (!live.every(isNamespaceInit)) return live
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
