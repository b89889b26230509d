import { appendFileSync, closeSync, existsSync, type FSWatcher, openSync, readFileSync, readSync, watch } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fact } from '../../adapter/adapter.ts'
import { readSessionFileUsage } from '../../adapter/runtime-b-meter.ts'
import { endTree, SHORT_GRACE_MS } from './end-tree.ts'
import { isSameProcess, isShim, type ProcessIdentity } from './process-table.ts'
import { type ExitRecord, exitFile, factsFile, hasBegun, readExit, readStop, writeExit } from './run-files.ts'

/** A run as it is kept in the database. */
export interface RunRef {
  runId: string
  runDir: string
  /** The shim; null when there is none. One that was not recorded in time is found by `findShim`. */
  identity: ProcessIdentity | null
}

export interface RunProcess extends RunRef {
  /**
   * Settles when the run is over: no process of it is left and every fact was
   * delivered. Rejects with what `onFacts` threw. Never settles once closed.
   */
  ended: Promise<ExitRecord>
  /** Stops following. The run goes on. */
  close(): void
}

export interface Follow {
  /** Where in the facts file to begin, in bytes; the start by default. */
  factsOffset?: number
  /**
   * Gets each batch of facts and the offset behind it, to be kept in the same
   * transaction as the facts. The next batch, and the end, wait for it.
   */
  onFacts(facts: Fact[], nextOffset: number): void | Promise<void>
  /** Settles with the shim's end, if it is a child of this process. */
  shimExited?: Promise<void>
}

/** How often the shim of an adopted run is looked for: the death of what is no child has no event. */
const LIVENESS_MS = 1_000
/** How often the folder is looked at when the system has no watcher left to give. */
const POLL_MS = 200
const BATCH_BYTES = 64 * 1024

export function followRun(ref: RunRef, follow: Follow): RunProcess {
  const { runDir } = ref
  const end = Promise.withResolvers<ExitRecord>()
  end.promise.catch(() => {}) // who does not ask for the end does not want its error either
  let offset = follow.factsOffset ?? 0
  let closed = false
  let looking = false
  let again = false
  let retry: NodeJS.Timeout | undefined

  const look = async () => {
    again = true
    if (looking || closed) return
    looking = true
    try {
      while (again && !closed) {
        again = false
        // Asked in this order: a shim that is gone has written its exit, and by then its facts.
        const gone = shimIsGone()
        const record = readExit(runDir)
        offset = await deliver(runDir, offset, onFacts, () => closed)
        if (!closed && (record || gone)) await finish(record)
      }
    } catch {
      // Out of files or memory: that says nothing about the run.
      retry = setTimeout(look, LIVENESS_MS)
    } finally {
      looking = false
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

  let exited = false
  const shimIsGone = () => exited || !ref.identity || (!follow.shimExited && !isShim(ref.identity, ref.runId))

  const finish = async (record: ExitRecord | undefined) => {
    close()
    try {
      if (record) await shimGone()
      const lost = record ? undefined : await loseRun(ref)
      // What its program recorded after its shim had died.
      if (lost) await deliver(runDir, offset, onFacts, () => false)
      end.resolve(record ?? lost!)
    } catch (error) {
      end.reject(error)
    }
  }

  /** A shim that wrote its record has a few milliseconds to live, the last of them without its marker. */
  const shimGone = async () => {
    const givenUp = performance.now() + LIVENESS_MS
    if (follow.shimExited)
      return void (await Promise.race([follow.shimExited, delay(LIVENESS_MS, null, { ref: false })]))
    while (ref.identity && isSameProcess(ref.identity) && performance.now() < givenUp) await delay(5)
  }

  const close = () => {
    closed = true
    watcher?.close()
    clearInterval(timer)
    clearTimeout(retry)
  }

  const watcher = watchFolder(runDir, look)
  const interval = !watcher ? POLL_MS : follow.shimExited ? undefined : LIVENESS_MS
  const timer = interval ? setInterval(look, interval) : undefined
  follow.shimExited?.then(() => {
    exited = true
    return look()
  })
  setImmediate(look)
  return { ...ref, ended: end.promise, close }
}

/** Ends what a shim that died has left, and writes down that nobody knows how the command ended. */
async function loseRun(ref: RunRef): Promise<ExitRecord> {
  const begun = hasBegun(ref.runDir)
  const { found, left } = await endTree({ runId: ref.runId, leader: ref.identity, graceMs: SHORT_GRACE_MS })
  recoverUsage(ref.runDir)
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

/** Adds to the facts of a lost run what its program recorded in its session file until the program's end. */
function recoverUsage(runDir: string): void {
  const file = factsFile(runDir)
  if (!existsSync(file)) return
  const starts = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap(parseFact)
    .filter((fact) => fact.kind === 'session_file')
  // One for each file: the run's own, and those of its sub-agents.
  const facts = readSessionFileUsage([...new Map(starts.map((start) => [start.path, start])).values()])
  // The first line may be torn: the shim died at any moment.
  if (facts.length > 0) appendFileSync(file, `\n${facts.map((fact) => JSON.stringify(fact)).join('\n')}\n`)
}

/** Delivers the whole lines from an offset on. Returns the offset behind the last. */
async function deliver(
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
    if (length === 0) {
      size *= 2 // a line that is longer than the batch
      continue
    }
    const facts = bytes.toString('utf8', 0, length).split('\n').flatMap(parseFact)
    await onFacts(facts, offset + length)
    offset += length
  }
  return offset
}

/** A line that a full disk tore is passed over: facts are snapshots, and the next one says it again. */
function parseFact(line: string): Fact[] {
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
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

/** Looks when the facts or the exit change. The log is in a folder of its own, so output makes no events here. */
function watchFolder(runDir: string, look: () => void): FSWatcher | undefined {
  const names = [path.basename(factsFile(runDir)), path.basename(exitFile(runDir))]
  try {
    const watcher = watch(runDir, (_event, name) => {
      if (name === null || names.includes(name)) look()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
