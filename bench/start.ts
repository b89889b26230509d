/**
 * Measures `service start` on an existing database: the time from the start of
 * the process to the first healthy response, and then the processor time and
 * memory of the idle server. `node bench/start.ts [sizes]`.
 * Exits with 1 if it misses a goal, or if a start in a larger company takes over a third longer, relative to starts of
 * Node without a program: the speed of the machine changes between the sizes.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { packageRoot } from '../src/platform/package-root.ts'
import { cpuSeconds } from './process.ts'
import { measureAtSizes, SIZES } from './sizes.ts'

const GOAL = { startMs: 400, idlePercent: 0.5, idleMb: 110 }
const STARTS = 7

const IDLE_SECONDS = 20

await measureAtSizes(process.argv[2] ?? SIZES, async (dataDir, { issueIds }) => {
  // The first start of a checkout may have to build the bundle.
  await (await start(dataDir)).stop()
  const times: number[] = []
  const bare: number[] = []
  for (let i = 0; i < STARTS; i++) {
    bare.push(startOfNode())
    const server = await start(dataDir)
    times.push(server.ms)
    if (i === STARTS - 1) await idle(server.pid)
    await server.stop()
  }
  const median = medianOf(times)
  report(
    `${issueIds.length} issues, start to healthy: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`,
    median,
    GOAL.startMs,
    'ms',
  )
  return new Map([['start to healthy', medianOf(bare) / median]])
})

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

/** Returns the milliseconds in which Node starts and ends without a program. */
function startOfNode(): number {
  const begun = performance.now()
  spawnSync(process.execPath, ['--eval', ''])
  return performance.now() - begun
}

async function start(dataDir: string) {
  const begun = performance.now()
  const launcher = path.join(packageRoot(), 'bin/service.mjs')
  const child = spawn(process.execPath, [launcher, 'start', '--json', '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  await (await fetch(`${JSON.parse(line).url}/api/health`)).text()
  const ms = performance.now() - begun
  const stop = async () => {
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    await exit
  }
  return { ms, pid: child.pid!, stop }
}

async function idle(pid: number): Promise<void> {
  const before = cpuSeconds(pid)
  await pause(IDLE_SECONDS * 1_000)
  const percent = ((cpuSeconds(pid) - before) / IDLE_SECONDS) * 100
  const mb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
  report(`idle for ${IDLE_SECONDS} s: ${percent.toFixed(2)} % of a core`, percent, GOAL.idlePercent, '%')
  report(`idle: ${mb.toFixed(0)} MB resident`, mb, GOAL.idleMb, 'MB')
}

function report(what: string, measured: number, goal: number, unit: string): void {
  const met = measured < goal
  if (!met) process.exitCode = 1
  process.stdout.write(`${what}, goal under ${goal} ${unit}  ${met ? 'met' : 'MISSED'}\n`)
}
