import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, watch } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fact } from '../adapter/adapter.ts'
import type { Ending } from '../run/settle.ts'
import { readFacts } from './facts-file.ts'
import { findProcess, isAlive, isOfRun, type ProcessIdentity, signalProcess } from './process-table.ts'
import { EXIT_FILE, type ExitRecord, FACTS_FILE, MARKER, type RunSpec, SHIM_ERROR_FILE } from './shim-protocol.ts'
import { endTree } from './tree.ts'

/** A run's processes, as the server sees them. */
export interface RunProcess {
  /** The shim, which leads the run's group; undefined when it was never found. */
  identity: ProcessIdentity | undefined
  /** Calls back with what the run has told, now and whenever that changes. */
  onFacts(listener: (facts: Fact[]) => void): void
  /** How it ended; never resolves once closed. */
  ended: Promise<Ending>
  /** Looks away: the run goes on by itself. */
  close(): void
}

/**
 * Starts a run: its shim, in a process group and session of its own, with no
 * pipe to this server that could break. Resolves once the shim is there.
 *
 * @param options.shim the argv that starts the shim
 */
export async function spawnRun(
  spec: RunSpec,
  options: { shim: readonly string[]; folder: string },
): Promise<RunProcess> {
  const { shim, folder } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const errors = openSync(path.join(folder, SHIM_ERROR_FILE), 'a', 0o600)
  try {
    const child = spawn(shim[0]!, [...shim.slice(1), folder], {
      cwd: folder,
      detached: true,
      env: { [MARKER]: spec.runId, PATH: spec.env.PATH },
      stdio: ['pipe', 'ignore', errors],
    })
    const died = once(child, 'exit').then(() => {})
    await once(child, 'spawn')
    child.stdin!.on('error', () => {}) // it died at once; `ended` tells
    child.stdin!.end(JSON.stringify(spec))
    child.unref()
    return observe(spec.runId, identify(child), folder, died)
  } finally {
    closeSync(errors)
  }
}

function identify(child: ChildProcess): ProcessIdentity | undefined {
  const found = findProcess(child.pid!)
  return found && { pid: found.pid, startTime: found.startTime, bootId: found.bootId }
}

/** Watches a run whose shim another server started. */
export function adoptRun(runId: string, identity: ProcessIdentity | undefined, folder: string): RunProcess {
  const cancel = new AbortController()
  const isThere = identity !== undefined && isOfRun(identity, runId)
  const died = isThere ? waitForEnd(identity, cancel.signal) : Promise.resolve()
  const run = observe(runId, isThere ? identity : undefined, folder, died)
  return {
    ...run,
    close() {
      cancel.abort()
      run.close()
    },
  }
}

/** How often an adopted shim is looked for: it is not our child, so nothing tells of its end. */
const LOOK_MS = 500

async function waitForEnd(identity: ProcessIdentity, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && isAlive(identity)) await delay(LOOK_MS, undefined, { ref: false })
  if (signal.aborted) await new Promise(() => {})
}

function observe(
  runId: string,
  identity: ProcessIdentity | undefined,
  folder: string,
  died: Promise<void>,
): RunProcess {
  const listeners: ((facts: Fact[]) => void)[] = []
  const watcher = watch(folder, { persistent: false }, (_, file) => {
    if (file === FACTS_FILE) for (const listener of listeners) listener(readFacts(folder))
  })
  watcher.on('error', () => {}) // the folder is gone; the end is found all the same
  return {
    identity,
    onFacts(listener) {
      listeners.push(listener)
      const known = readFacts(folder)
      if (known.length > 0) listener(known)
    },
    ended: died.then(() => readEnding(runId, folder)),
    close: () => watcher.close(),
  }
}

/** How a run whose shim is gone ended: as the shim recorded it, else it is lost, and what is left of it is ended. */
async function readEnding(runId: string, folder: string): Promise<Ending> {
  try {
    const { reason, exitCode, signal, error } = JSON.parse(
      readFileSync(path.join(folder, EXIT_FILE), 'utf8'),
    ) as ExitRecord
    return { reason, exitCode, signal, error }
  } catch {
    await sweep(runId)
    return { reason: 'lost', exitCode: null, signal: null, error: null }
  }
}

/** Ends every process that carries a run's marker, at once. */
export const sweep = (runId: string): Promise<number> => endTree({ id: runId, groupId: null, except: process.pid }, 0)

/** What the shim may take beyond the grace before it is not waited for any longer. */
const SHIM_MARGIN_MS = 1_000

/**
 * Stops a run: asks its shim to, and if the shim cannot, does it itself.
 * Resolves when no process of the run is left, within the grace and 2 s.
 * A process that is not provably of the run is never signalled.
 */
export async function stopRun(runId: string, identity: ProcessIdentity | undefined, graceSec: number): Promise<void> {
  const giveUpAt = Date.now() + graceSec * 1_000 + SHIM_MARGIN_MS
  if (identity && isOfRun(identity, runId)) {
    signalProcess(identity, 'SIGTERM')
    while (isAlive(identity) && Date.now() < giveUpAt) await delay(25)
  }
  const isStuck = identity !== undefined && isOfRun(identity, runId)
  await endTree({ id: runId, groupId: isStuck ? identity.pid : null, except: process.pid }, 0)
}
