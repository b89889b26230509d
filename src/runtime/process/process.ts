import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { COMPILE_CACHE } from '../../platform/programs.ts'
import { type Follow, followRun, type RunProcess } from './follow.ts'
import { identityOf, MARKER, type ProcessIdentity } from './process-table.ts'
import { type RunSpec, shimErrorFile } from './run-files.ts'

export interface SpawnOptions extends Follow {
  /** The program and arguments that start the shim. */
  shim: readonly [string, ...string[]]
  /** The run's own folder, which is created if necessary. */
  runDir: string
}

/**
 * Starts a run: a shim in its own session and process group, which outlives this
 * process. Resolves when the shim exists. Store its `identity`, so that the next
 * server can adopt the run. `ended` tells whether the command itself could be
 * started. Closing the handle does not end the run.
 *
 * @throws the system's error if the shim itself cannot be started
 */
export async function spawnRun(spec: RunSpec, options: SpawnOptions): Promise<RunProcess> {
  const { shim, runDir, ...follow } = options
  mkdirSync(runDir, { recursive: true, mode: 0o700 })
  const errors = openSync(shimErrorFile(runDir), 'a', 0o600)
  const [program, ...args] = shim
  const child = startShim(
    () =>
      spawn(program, [...args, runDir, spec.runId], {
        cwd: runDir,
        detached: true,
        env: { [MARKER]: spec.runId, ...COMPILE_CACHE },
        stdio: ['pipe', 'ignore', errors],
      }),
    errors,
  )
  // `once` rejects with the child's 'error' event. Without a pid there may be no stdin either (EMFILE).
  if (child.pid === undefined) await once(child, 'spawn')
  child.stdin!.on('error', () => {}) // the exit event reports a shim that dies before it has read everything
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const identity = identityOfChild(child)
  child.stdin!.end(JSON.stringify(spec))

  const followed = followRun({ runId: spec.runId, runDir, identity }, { ...follow, shimExited: exited })
  return {
    ...followed,
    close() {
      followed.close()
      child.unref()
    },
  }
}

function startShim(start: () => ChildProcess, errors: number): ChildProcess {
  try {
    return start()
  } finally {
    closeSync(errors)
  }
}

/** Reads the identity in the same turn as the spawn: the pid cannot be reused before this process has waited for the child. */
function identityOfChild(child: ChildProcess): ProcessIdentity | null {
  try {
    return identityOf(child.pid!) ?? null
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

/**
 * Follows a run that another server started, and returns the same handle. A run
 * that ended meanwhile resolves at once with the record of its shim.
 */
export { followRun as watchRun } from './follow.ts'
