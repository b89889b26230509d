/**
 * Tests the process control under faults: `node test/chaos/trees.ts [trees=100] [forged=50] [megabytes=1024]`.
 * Stops many runs at once, each with a command that ignores SIGTERM and has a
 * grandchild in its own session that also ignores it; passes forged pid records;
 * and starts one run with large output. Prints the measurements, and exits with 1
 * if a guarantee is broken.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawnRun } from '../../src/runtime/process/process.ts'
import { identityOf, isSameProcess, markedProcesses } from '../../src/runtime/process/process-table.ts'
import { stopRun } from '../../src/runtime/process/stop.ts'
import { agentProgram, firstLine, logShows, memoryOf, SHIM, specOf } from '../runtime/process/runs.ts'

const GRACE_SEC = 2

/** @returns the duration of each stop in milliseconds, and the number of runs with remaining processes */
export async function stopTrees(count: number): Promise<{ took: number[]; left: number }> {
  const root = mkdtempSync(path.join(tmpdir(), 'service-chaos-'))
  const specs = Array.from({ length: count }, () => specOf('fork-and-leave', ['stay']))
  const runs = await Promise.all(
    specs.map((spec) => spawnRun(spec, { shim: SHIM, runDir: path.join(root, spec.runId), onFacts() {} })),
  )
  for (const run of runs) await logShows(run.runDir, 'left one', 120_000)
  const took = await Promise.all(
    runs.map(async (run) => {
      const began = performance.now()
      await stopRun(run, GRACE_SEC)
      return performance.now() - began
    }),
  )
  const marked = markedProcesses()
  await Promise.all(runs.map((run) => run.ended))
  rmSync(root, { recursive: true, force: true })
  return { took, left: specs.filter(({ runId }) => marked.has(runId)).length }
}

/** @returns the number of unrelated processes that got a signal because of a forged record */
export async function forgeRecords(count: number): Promise<number> {
  const root = mkdtempSync(path.join(tmpdir(), 'service-chaos-'))
  const bystanders = Array.from({ length: Math.min(count, 5) }, () =>
    spawn(process.execPath, [agentProgram('hang')], { detached: true, env: {}, stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  await Promise.all(bystanders.map((child) => firstLine(child.stdout)))
  const identities = bystanders.map((child) => identityOf(child.pid!)!)
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const real = identities[i % identities.length]!
      const identity = [real, { ...real, startTime: '1' }, { ...real, bootId: randomUUID() }][i % 3]!
      return stopRun({ runId: randomUUID(), runDir: root, identity }, 0)
    }),
  )
  const harmed = identities.filter((identity) => !isSameProcess(identity)).length
  for (const child of bystanders) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
  return harmed
}

/** @returns the peak memory of the shim of a run with large output in MB, and its duration in seconds */
export async function flood(megabytes: number): Promise<{ memory: number; seconds: number }> {
  const root = mkdtempSync(path.join(tmpdir(), 'service-chaos-'))
  const began = performance.now()
  const spec = specOf('flood', [String(megabytes)], { timeoutSec: 600, redact: ['one-secret-value', randomUUID()] })
  const run = await spawnRun(spec, { shim: SHIM, runDir: root, onFacts() {} })
  let memory = 0
  const timer = setInterval(() => {
    if (identityOf(run.identity!.pid)) memory = Math.max(memory, memoryOf(run.identity!.pid))
  }, 100)
  await run.ended
  clearInterval(timer)
  rmSync(root, { recursive: true, force: true })
  return { memory: Math.round(memory / 1024 / 1024), seconds: (performance.now() - began) / 1_000 }
}

if (import.meta.main) {
  const [trees = 100, forged = 50, megabytes = 1024] = process.argv.slice(2).map(Number)
  const { took, left } = await stopTrees(trees)
  const late = took.filter((ms) => ms > (GRACE_SEC + 2) * 1_000).length
  const slowest = Math.round(Math.max(...took))
  process.stdout.write(`${trees} trees: ${left} left, ${late} late, slowest ${slowest} ms (grace ${GRACE_SEC} s)\n`)
  const harmed = await forgeRecords(forged)
  process.stdout.write(`${forged} forged records: ${harmed} bystanders harmed\n`)
  const { memory, seconds } = await flood(megabytes)
  process.stdout.write(`${megabytes} MB flood: ${memory} MB of memory, ${seconds.toFixed(1)} s\n`)
  process.exitCode = left + late + harmed === 0 && memory > 0 && memory < 200 ? 0 : 1
}
