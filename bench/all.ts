/**
 * Runs every benchmark at 1,000, 10,000 and 100,000 issues, in about 15 minutes.
 * Runs all of them even if one misses a goal. Then exits with 1.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { withFolder } from './process.ts'

const BENCHMARKS = ['http', 'events', 'runs', 'start', 'idle', 'import', 'history']

await withFolder(async (seeds) => {
  const missed = BENCHMARKS.filter((name) => {
    process.stdout.write(`\n${name}\n`)
    const program = path.join(import.meta.dirname, `${name}.ts`)
    const env = { ...process.env, BENCH_SEEDS: seeds }
    return spawnSync(process.execPath, [program], { stdio: 'inherit', env }).status !== 0
  })
  if (missed.length > 0) process.stdout.write(`\nMissed a goal: ${missed.join(', ')}.\n`)
  process.exitCode = missed.length === 0 ? 0 : 1
})
