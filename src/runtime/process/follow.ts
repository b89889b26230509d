import { execFile } from 'node:child_process'
import { appendFileSync, closeSync, existsSync, type FSWatcher, openSync, readSync, statSync, watch } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Fact } from '../../adapter/adapter.ts'
import { argvOf, COMPILE_CACHE } from '../../platform/programs.ts'
import { createSlots } from '../../platform/slots.ts'
import { endTree, SHORT_GRACE_MS } from './end-tree.ts'
import { parseFact } from './fact-log.ts'
import { isSameProcess, isShim, type ProcessIdentity } from './process-table.ts'
import {
  type ExitRecord,
  exitFile,
  factsFile,
  hasBegun,
  readExit,
  readStop,
  shimErrorFile,
  writeExit,
} from './run-files.ts'

/** The identity of a run, as the database stores it. */
export interface RunRef {
  runId: string
  runDir: string
  /** The shim's process, or null if it has none. `findShim` finds a shim that was not recorded in time. */
  identity: ProcessIdentity | null
}

export interface RunProcess extends RunRef {
  /**
   * Resolves when the run has ended: none of its processes is left and all facts
   * are delivered. Rejects with the error of `onFacts`. Remains pending after `close`.
   */
  ended: Promise<ExitRecord>
  /** Stops following the run. Its processes continue. */
  close(): void
  /** Stops the run. Absent for a run on this machine; see `stopRun`. */
  stop?(graceSec: number): Promise<unknown>
  /** Resolves when the command is about to start. Absent if it starts at once. */
  begun?: Promise<void>
}

export interface Follow {
  /** The offset in the facts file to begin at, in bytes. The default is 0. */
  factsOffset?: number
  /**
   * Receives each batch of facts, and the offset after it, in bytes. The next
   * batch and the end of the run wait for the returned promise.
   */
  onFacts(facts: Fact[], nextOffset: number): void | Promise<void>
  /** Resolves when the shim exits, if it is a child of this process. */
  shimExited?: Promise<void>
  /** Watches a shim on another machine. By default, the shim is a process of this machine. */
  shimWatch?: ShimWatch
}

/** Detects the end of a shim, and ends a run whose shim left no exit record. */
export interface ShimWatch {
  isGone(): boolean
  /** Resolves when the shim is gone, if there is an event for it; otherwise the follower polls `isGone`. */
  exited?: Promise<void>
  /** Waits for the exit of a shim that has written its record, which takes a few milliseconds. */
  untilExited(): Promise<void>
  endLostRun(): Promise<ExitRecord>
}

/** The interval of liveness checks of an adopted shim, in milliseconds. It is not a child, so its exit causes no event. */
const LIVENESS_MS = 1_000
/** The interval of polling the folder, in milliseconds, if the system's limit of file watchers is reached. */
const POLL_MS = 200
const BATCH_BYTES = 64 * 1024
/** In bytes. A longer line is skipped: a shim writes none, but a run on another machine may send any file. */
const LONGEST_LINE = 1024 * 1024

/**
 * Follows a run: delivers the facts that its shim writes, and detects its end.
 * If the shim died, it ends the run's processes and records the run as lost.
 */
export function followRun(ref: RunRef, follow: Follow): RunProcess {
  const { runDir } = ref
  const shim = follow.shimWatch ?? watchLocalShim(ref, follow.shimExited)
  const end = Promise.withResolvers<ExitRecord>()
  end.promise.catch(() => {}) // no unhandled rejection if the caller does not use `ended`
  let offset = follow.factsOffset ?? 0
  let closed = false
  let checking = false
  let again = false
  let retry: NodeJS.Timeout | undefined

  const check = async () => {
    again = true
    if (checking || closed) return
    checking = true
    try {
      while (again && !closed) {
        again = false
        // The order matters: a shim writes its facts, then its exit record, and then exits.
        const gone = shim.isGone()
        const record = readExit(runDir)
        offset = await deliverFacts(runDir, offset, onFacts, () => closed)
        if (!closed && (record || gone)) await finish(record)
      }
    } catch {
      // The server is out of files or memory, which does not affect the run.
      retry = setTimeout(check, LIVENESS_MS)
    } finally {
      checking = false
    }
  }

  const onFacts: Follow['onFacts'] = async (facts, nextOffset) => {
    try {
      await follow.onFacts(facts, nextOffset)
    } catch (error) {
      close()
      end.reject(error)
    }
  }

  const finish = async (record: ExitRecord | undefined) => {
    close()
    try {
      if (record) await shim.untilExited()
      const lost = record ? undefined : await shim.endLostRun()
      // The facts that were recovered from files that the program wrote after its shim had died.
      if (lost) await deliverFacts(runDir, offset, onFacts, () => false)
      end.resolve(record ?? lost!)
    } catch (error) {
      end.reject(error)
    }
  }

  const close = () => {
    closed = true
    watcher?.close()
    clearInterval(timer)
    clearTimeout(retry)
  }

  const watcher = watchFolder(runDir, check)
  const interval = !watcher ? POLL_MS : shim.exited ? undefined : LIVENESS_MS
  const timer = interval ? setInterval(check, interval) : undefined
  shim.exited?.then(check)
  setImmediate(check)
  return { ...ref, ended: end.promise, close }
}

/** @param shimExited resolves when the shim exits, if it is a child of this process */
function watchLocalShim(ref: RunRef, shimExited: Promise<void> | undefined): ShimWatch {
  let isExited = false
  const exited = shimExited?.then(() => {
    isExited = true
  })
  return {
    isGone: () => isExited || !ref.identity || (!shimExited && !isShim(ref.identity, ref.runId)),
    ...(exited && { exited }),
    async untilExited() {
      const deadline = performance.now() + LIVENESS_MS
      if (exited) return void (await Promise.race([exited, delay(LIVENESS_MS, null, { ref: false })]))
      while (ref.identity && isSameProcess(ref.identity) && performance.now() < deadline) await delay(5)
    },
    endLostRun: () => endLostRun(ref),
  }
}

/** Ends the processes that a dead shim left, and records that the outcome of the command is unknown. */
async function endLostRun(ref: RunRef): Promise<ExitRecord> {
  const begun = hasBegun(ref.runDir)
  const { found, left } = await endTree({ runId: ref.runId, leader: ref.identity, graceMs: SHORT_GRACE_MS })
  await recoverUsage(ref.runDir)
  const record: ExitRecord = {
    exitCode: null,
    signal: null,
    reason: readStop(ref.runDir) ? 'stopped' : begun || found.length > 0 ? 'lost' : 'never_started',
    startedAt: null,
    finishedAt: new Date().toISOString(),
    bytes: { stdout: 0, stderr: 0 },
    strays: found.length,
    left: left.length,
  }
  if (existsSync(ref.runDir)) writeExit(ref.runDir, record)
  return record
}

/** The time limit for recovering the usage of a run, in milliseconds. */
const RECOVERY_MS = 30_000

/** All runs of a machine may be lost at once. */
const recovery = createSlots(4)

/** Adds the usage that the program of a lost run recorded itself, until its end, to the facts of the run. */
async function recoverUsage(runDir: string): Promise<void> {
  if (!statSync(factsFile(runDir), { throwIfNoEntry: false })?.size) return
  const [program, ...args] = argvOf('recover-usage')
  const options = { env: COMPILE_CACHE, timeout: RECOVERY_MS, killSignal: 'SIGKILL' as const }
  await recovery(() => promisify(execFile)(program, [...args, runDir], options)).catch((error: Error) =>
    appendFileSync(shimErrorFile(runDir), `The usage of the run could not be recovered: ${error.message}\n`),
  )
}

/** Delivers the complete lines after an offset, in bytes. Returns the offset after the last of them. */
export async function deliverFacts(
  runDir: string,
  from: number,
  onFacts: Follow['onFacts'],
  isClosed: () => boolean,
): Promise<number> {
  let offset = from
  for (let size = BATCH_BYTES; !isClosed(); ) {
    const bytes = readFrom(factsFile(runDir), offset, size)
    const length = bytes.lastIndexOf(10) + 1
    if (length === 0 && bytes.length < size) return offset
    if (length === 0 && size < LONGEST_LINE) {
      size *= 2 // a line that is longer than the batch
      continue
    }
    if (length === 0) {
      offset += bytes.length // a part of a line that is too long; its end is not JSON and is skipped too
      continue
    }
    size = BATCH_BYTES
    const facts = bytes.toString('utf8', 0, length).split('\n').flatMap(parseFact)
    await onFacts(facts, offset + length)
    offset += length
  }
  return offset
}

function readFrom(name: string, offset: number, size: number): Buffer {
  let file: number | undefined
  try {
    file = openSync(name, 'r')
    const bytes = Buffer.allocUnsafe(size)
    return bytes.subarray(0, readSync(file, bytes, 0, size, offset))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Calls `onChange` when the facts or the exit record change. The log is in another folder, so output causes no events. */
function watchFolder(runDir: string, onChange: () => void): FSWatcher | undefined {
  const names = [path.basename(factsFile(runDir)), path.basename(exitFile(runDir))]
  try {
    const watcher = watch(runDir, (_event, name) => {
      if (name === null || names.includes(name)) onChange()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
