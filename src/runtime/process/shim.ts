/**
 * A program of its own, one for each run: starts the run's command, keeps its
 * log, reads its facts, enforces its limits and cleans up after it, whether
 * the server lives or not. Its arguments are the run's folder and id; what to
 * run comes as one JSON `RunSpec` on standard input. Without a whole one it
 * starts nothing.
 *
 * It leads the process group of the run, so the group's number is the run's
 * for as long as the shim lives.
 */
import { readFileSync } from 'node:fs'
import { endTree, killTree } from './end-tree.ts'
import { identityOf, type RunLeader } from './process-table.ts'
import { type RunSpec, readStop, reserveExit } from './run-files.ts'
import { supervise } from './supervise.ts'

const runDir = process.argv[2]!
process.umask(0o077)

// Read in one blocking go: a signal that comes before there is anything to stop simply ends this process.
const spec = readSpec()
if (!spec) process.exit(0)

const leader: RunLeader = { runId: spec.runId, leader: identityOf(process.pid) ?? null }
const stopAsked = Promise.withResolvers<{ graceSec: number }>()
// The command may signal its whole group (`kill 0`), and this is a part of it. Only a stop that the server wrote down counts.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
process.on('SIGTERM', () => {
  const stop = readStop(runDir)
  if (stop) stopAsked.resolve(stop)
})

process.on('uncaughtException', fail)
const writeExit = reserveExit(runDir)
const record = await supervise(spec, {
  runDir,
  stopAsked: stopAsked.promise,
  endTree: (graceMs, hurry, waiter) => endTree({ ...leader, graceMs, hurry, waiter }),
})
writeExit(record)
// Something that starts processes faster than they can be killed one by one goes with the whole group, this included.
if (record.left > 0) process.kill(-process.pid, 'SIGKILL')
process.exit(0)

/** A bug here, or a disk without any room, must not leave a run behind that nobody watches. */
async function fail(error: unknown): Promise<void> {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  await killTree(leader)
  process.exit(1)
}

function readSpec(): RunSpec | undefined {
  try {
    return JSON.parse(readFileSync(0, 'utf8'))
  } catch {
    return undefined // the server died before it had said everything
  }
}
