/** Runs every benchmark. Exits with 1 at the end if any missed its goal. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const BENCHMARKS = ['http', 'events', 'runs', 'start', 'idle', 'import', 'history']

const missed = BENCHMARKS.filter((name) => {
  process.stdout.write(`\n${name}\n`)
  const program = path.join(import.meta.dirname, `${name}.ts`)
  return spawnSync(process.execPath, [program], { stdio: 'inherit' }).status !== 0
})
if (missed.length > 0) process.stdout.write(`\nMissed a goal: ${missed.join(', ')}.\n`)
process.exitCode = missed.length === 0 ? 0 : 1
