import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { endTree, killTree } from '../process/end-tree.ts'
import { identityOf, type RunLeader } from '../process/process-table.ts'
import { type ExitRecord, readStop, type StopRequest, writeBudget } from '../process/run-files.ts'
import { supervise } from '../process/supervise.ts'
import { claimRun } from './claim.ts'
import { absoluteWorkdir, LayOutError, layOut } from './lay-out.ts'
import { startMirror } from './mirror.ts'
import { EXIT, type RemoteJob, type ReportReply } from './wire.ts'

/** Returns the folder of a run on this machine. */
export const remoteRunDir = (workdir: string, runId: string) => path.join(absoluteWorkdir(workdir), 'runs', runId)

/**
 * Executes a run on this machine, from the claim to the last report. It does
 * the same as the local shim, and also uploads the files of the run.
 *
 * @returns the exit code of this process
 */
export async function runRemote(job: RemoteJob): Promise<number> {
  process.umask(0o077)
  const workdir = absoluteWorkdir(job.workdir)
  const runDir = remoteRunDir(job.workdir, job.runId)
  try {
    mkdirSync(runDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    process.stderr.write(`The folder ${runDir} cannot be made: ${(error as Error).message}\n`)
    return EXIT.cannotWrite
  }
  const leader: RunLeader = { runId: job.runId, leader: identityOf(process.pid) ?? null }
  const stopRequested = Promise.withResolvers<StopRequest>()
  process.on('uncaughtException', async (error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    await killTree(leader)
    process.exit(1)
  })
  // The command may signal its whole process group, so only a recorded stop request is valid, as in the local shim.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => {
    const stop = readStop(runDir)
    if (stop) stopRequested.resolve(stop)
  })

  const instance = randomUUID()
  const bundle = await claimRun(job, instance)
  if (typeof bundle === 'number') {
    rmSync(runDir, { recursive: true, force: true })
    return bundle
  }
  let lastBudget: string | undefined
  const mirror = startMirror({
    runDir,
    instance,
    job,
    onReply({ stop, budget }: ReportReply) {
      if (stop) stopRequested.resolve(stop)
      const text = JSON.stringify(budget)
      if (budget && text !== lastBudget) writeBudget(runDir, budget)
      lastBudget = text
    },
    // The server ignores this run now, and another run may have replaced it.
    onRunEnded: () => stopRequested.resolve({ graceSec: 0 }),
  })
  const exit = await superviseBundle()
  await mirror.finish(exit)
  rmSync(runDir, { recursive: true, force: true })
  if (exit.left > 0) process.kill(-process.pid, 'SIGKILL')
  return 0

  async function superviseBundle(): Promise<ExitRecord> {
    try {
      const spec = await layOut(bundle as Exclude<typeof bundle, number>, {
        runDir,
        workdir,
        url: job.url,
        token: job.token,
      })
      return await supervise(spec, {
        runDir,
        stopRequested: stopRequested.promise,
        endTree: (graceMs, shorten, waiter) => endTree({ ...leader, graceMs, shorten, waiter }),
      })
    } catch (error) {
      await killTree(leader)
      return notStarted(error)
    }
  }
}

/** Creates the exit record of a run that could not be prepared, for example after a failed clone. */
function notStarted(error: unknown): ExitRecord {
  const code = error instanceof LayOutError ? error.code : ((error as NodeJS.ErrnoException).code ?? 'UNKNOWN')
  const message = `${error instanceof Error ? error.message : String(error)} (on ${hostname()})`
  return {
    exitCode: null,
    signal: null,
    reason: 'spawn_failed',
    error: { code, message },
    startedAt: null,
    finishedAt: new Date().toISOString(),
    bytes: { stdout: 0, stderr: 0 },
    strays: 0,
    left: 0,
  }
}
