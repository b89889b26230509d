import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessEntry } from './process-entry.ts'
import { isLive, keyOf, type RunLeader, runTree, signalProcess } from './process-table.ts'

export interface EndTree extends RunLeader {
  /** The time from SIGTERM to SIGKILL, in milliseconds. */
  graceMs: number
  /** The pid of the wrapper that only waits for the command. It exits by itself and receives no SIGTERM. */
  waiter?: number | undefined
  /** Promises that shorten the grace: each resolves with the milliseconds that remain from then on. */
  shorten?: readonly Promise<number>[]
}

/** The grace for processes that remain after the command's exit, in milliseconds. */
export const SHORT_GRACE_MS = 2_000

/** How long the kill is repeated, in milliseconds, because processes may fork others meanwhile. */
const KILL_MS = 800

/** The time between two empty scans, in milliseconds. A fork that the first scan missed is visible by then. */
const SECOND_SCAN_MS = 15

export interface TreeEnd {
  /** Every process that was found, ended or not, except the first process of the PID namespace. */
  found: ProcessEntry[]
  /** The processes that could not be ended: stuck in the kernel, or owned by another user. */
  left: ProcessEntry[]
}

/**
 * Ends every process of a run except its shim: SIGTERM, the grace, SIGKILL. It
 * verifies the identity of a process before each signal. The end of a process
 * that is not a child causes no event, so this function polls the known
 * processes, and scans the whole machine when those have ended. It kills the
 * first process of the run's PID namespace last: the kernel kills the rest of
 * the namespace with it.
 */
export async function endTree(options: EndTree): Promise<TreeEnd> {
  const found = new Map<string, ProcessEntry>()
  let deadline = performance.now() + options.graceMs
  for (const remaining of options.shorten ?? []) {
    remaining.then((ms) => {
      deadline = Math.min(deadline, performance.now() + ms)
    })
  }
  const foreign = new Set<string>()
  while (performance.now() < deadline) {
    const live = await scanTwice(options, foreign)
    if (live.every(isNamespaceInit)) return { found: [...found.values()], left: await kill(live) }
    for (const entry of live) {
      if (found.has(keyOf(entry)) || isNamespaceInit(entry)) continue
      found.set(keyOf(entry), entry)
      if (entry.pid !== options.waiter) signalProcess(entry, 'SIGTERM')
    }
    await untilEnded([...found.values()], () => deadline)
  }
  const left = await killTree(options, found, foreign)
  return { found: [...found.values()].filter((entry) => !isNamespaceInit(entry)), left }
}

const isNamespaceInit = ({ namespacePid }: ProcessEntry) => namespacePid === 1

/** Kills processes. Returns those that could not be killed. */
async function kill(entries: ProcessEntry[]): Promise<ProcessEntry[]> {
  const deadline = performance.now() + KILL_MS
  for (const entry of entries) signalProcess(entry, 'SIGKILL')
  await untilEnded(entries, () => deadline)
  return entries.filter(isLive)
}

/**
 * Kills every process of a run except its shim, without grace. It kills the
 * known processes first, before it scans the machine.
 *
 * @param found the processes that are known already; new ones are added
 * @param foreign the scanned processes of other runs, see `runTree`
 * @returns the processes that could not be killed
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
    await untilEnded(live, () => Math.min(pause, deadline))
    live = await scanTwice(leader, foreign)
    if (live.length === 0 || performance.now() > deadline) return live
  }
}

/**
 * Scans the machine for processes of the run, twice if the first scan finds
 * none. The process table changes during a scan, so one scan can miss a process
 * whose parent forked it and exited meanwhile.
 */
async function scanTwice(leader: RunLeader, foreign: Set<string>): Promise<ProcessEntry[]> {
  const live = runTree(leader, foreign)
  if (!live.every(isNamespaceInit)) return live
  await delay(SECOND_SCAN_MS)
  return runTree(leader, foreign)
}

/** Waits until all processes have ended or the deadline, which may change, has passed. */
async function untilEnded(entries: ProcessEntry[], deadline: () => number): Promise<void> {
  for (let pause = 2; entries.some(isLive); pause = Math.min(pause * 1.5, 100)) {
    const left = deadline() - performance.now()
    if (left <= 0) return
    await delay(Math.min(pause, left))
  }
}
