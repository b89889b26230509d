/**
 * The program that placements run on other machines, as one file. Its first
 * argument is a command:
 *
 *     run <runId>     executes a run; reads the job from the environment, or as JSON from standard input
 *     start <runId>   starts `run` as a separate process and prints its identity
 *     find <runId>    prints the identity of the shim of a run, or null
 *     status          prints, for each shim on standard input, whether it is alive and the exit code it stored
 *     stop <runId>    stops a run
 *     clean <runId>   kills the remaining processes of a run and removes its folder
 *     probe           prints the properties of this machine
 *
 * The run id is the last argument, because the process table identifies a shim by it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findShim, identityOf, isShim, MARKER, type ProcessIdentity } from '../process/process-table.ts'
import { shimErrorFile } from '../process/run-files.ts'
import { killRun, stopRun } from '../process/stop.ts'
import { probe } from './probe.ts'
import { remoteRunDir, runRemote } from './run.ts'
import type { RemoteJob, ShimStatus } from './wire.ts'

const readInput = <Value>(): Value => JSON.parse(readFileSync(0, 'utf8'))
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)

/** Reads the job from the environment, in which a batch system passes it. */
function jobOfEnvironment(): RemoteJob | undefined {
  const { SERVICE_RUN_ID: runId, SERVICE_API_URL: url, SERVICE_API_KEY: token, SERVICE_WORKDIR: workdir } = process.env
  if (!runId || !url || !token || !workdir) return undefined
  return { runId, url, token, workdir }
}

async function start(job: RemoteJob): Promise<void> {
  const runDir = remoteRunDir(job.workdir, job.runId)
  mkdirSync(runDir, { recursive: true, mode: 0o700 })
  const errors = openSync(shimErrorFile(runDir), 'a', 0o600)
  const child = spawn(process.execPath, [process.argv[1]!, 'run', job.runId], {
    cwd: runDir,
    detached: true,
    env: { ...process.env, [MARKER]: job.runId },
    stdio: ['pipe', 'ignore', errors],
  })
  closeSync(errors)
  await once(child, 'spawn')
  const input = child.stdin!
  const written = once(input, 'close')
  input.end(JSON.stringify(job))
  const identity = identityOf(child.pid!)
  child.unref()
  await written
  print(identity ?? null)
}

/** Executes a run. A batch system copies this file for each run; the copy is removed. */
async function run(): Promise<void> {
  const batchJob = jobOfEnvironment()
  const job = batchJob ?? readInput<RemoteJob>()
  removeCopy()
  const code = await runRemote(job)
  // A batch system records the exit code itself.
  if (code !== 0 && !batchJob) writeExitCode(job, code)
  process.exit(code)
}

const exitCodeFile = (workdir: string, runId: string) => path.join(remoteRunDir(workdir, runId), 'exit-code')

/** Stores the exit code of a shim that did not start its run. `clean` removes it. */
function writeExitCode({ workdir, runId }: RemoteJob, code: number): void {
  try {
    mkdirSync(remoteRunDir(workdir, runId), { recursive: true, mode: 0o700 })
    writeFileSync(exitCodeFile(workdir, runId), String(code), { mode: 0o600 })
  } catch {
    // The folder cannot be written, which the server finds out with its next command.
  }
}

function readExitCode(workdir: string, runId: string): number | null {
  try {
    return Number(readFileSync(exitCodeFile(workdir, runId), 'utf8'))
  } catch {
    return null
  }
}

function removeCopy(): void {
  if (process.env.SERVICE_REMOVE_SHIM) rmSync(path.dirname(process.argv[1]!), { recursive: true, force: true })
}

const [, , verb, runId = ''] = process.argv
switch (verb) {
  case 'run':
    await run()
    break
  case 'start':
    await start(readInput()).catch((error: Error) => print({ error: error.message }))
    break
  case 'find':
    print(findShim(runId) ?? null)
    break
  case 'status': {
    const { workdir, jobs } = readInput<{
      workdir: string
      jobs: { runId: string; identity: ProcessIdentity }[]
    }>()
    const statuses: ShimStatus[] = jobs.map(({ runId, identity }) => ({
      runId,
      isLive: isShim(identity, runId),
      exitCode: readExitCode(workdir, runId),
    }))
    print(statuses)
    break
  }
  case 'stop': {
    const { workdir, identity, graceSec } = readInput<{
      workdir: string
      identity: ProcessIdentity | null
      graceSec: number
    }>()
    const runDir = remoteRunDir(workdir, runId)
    mkdirSync(runDir, { recursive: true, mode: 0o700 })
    await stopRun({ runId, runDir, identity }, graceSec)
    print(true)
    break
  }
  case 'clean': {
    const { workdir } = readInput<{ workdir: string }>()
    await killRun(runId)
    rmSync(remoteRunDir(workdir, runId), { recursive: true, force: true })
    print(true)
    break
  }
  case 'probe':
    print(await probe(jobOfEnvironment() ?? readInput()))
    removeCopy()
    break
  default:
    process.stderr.write(`There is no verb ${verb}.\n`)
    process.exitCode = 64
}
