/**
 * The shim: a separate program for each run. It starts the run's command,
 * writes its log, reads its facts, enforces its limits and ends its processes,
 * whether the server is running or not. Its arguments are the run's folder and
 * id. It reads one JSON `RunSpec` from standard input, and starts nothing if the
 * input is incomplete.
 *
 * It leads the process group of the run, so the system cannot reuse the group's
 * number while the shim lives.
 */
import { readFileSync } from 'node:fs'
import { endTree, killTree } from './end-tree.ts'
import { closeInheritedFiles } from './inherited-files.ts'
import { identityOf, type RunLeader } from './process-table.ts'
import { hasBegun, type RunSpec, readStop, reserveExit } from './run-files.ts'
import { supervise } from './supervise.ts'

const FOLDER_CHECK_MS = 1_000

// By a relative path, the folder is found even if the data directory is moved during the run.
process.chdir(process.argv[2]!)
const runDir = '.'
process.umask(0o077)
closeInheritedFiles()

// A blocking read: a signal during the read ends this process, which has nothing to stop yet.
const spec = readSpec()
if (!spec) process.exit(0)

const leader: RunLeader = { runId: spec.runId, leader: identityOf(process.pid) ?? null }
const stopRequested = Promise.withResolvers<{ graceSec: number }>()
// The command may signal its whole group (`kill 0`), which includes the shim. Only a stop request in a file counts.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
process.on('SIGTERM', () => {
  const stop = readStop(runDir)
  if (stop) stopRequested.resolve(stop)
})

process.on('uncaughtException', fail)
const writeExit = reserveExit(runDir)
// Without its folder, nobody can stop the run or read its outcome.
setInterval(() => {
  if (!hasBegun(runDir)) stopRequested.resolve({ graceSec: spec.graceSec })
}, FOLDER_CHECK_MS).unref()
const record = await supervise(spec, {
  runDir,
  stopRequested: stopRequested.promise,
  endTree: (graceMs, shorten, waiter) => endTree({ ...leader, graceMs, shorten, waiter }),
})
writeExit(record)
// A program that forks faster than its processes can be killed is killed with the whole group, including this process.
if (record.left > 0) process.kill(-process.pid, 'SIGKILL')
process.exit(0)

/** Kills the run after a bug in the shim or a full disk, so that no unsupervised process remains. */
async function fail(error: unknown): Promise<void> {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  await killTree(leader)
  process.exit(1)
}

function readSpec(): RunSpec | undefined {
  try {
    return JSON.parse(readFileSync(0, 'utf8'))
  } catch {
    return undefined // the server died while it wrote the input
  }
}
