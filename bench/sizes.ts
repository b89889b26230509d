import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { withFolder } from './process.ts'
import { type Seeded, seed } from './seed.ts'

/** The numbers of issues at which the benchmarks measure. */
export const SIZES = '1000,10000,100000'

const LEAST_SHARE_LEFT = 2 / 3

/**
 * Runs a measurement on a new database of each size. Then prints each rate that
 * is lower than two thirds of the rate at the smallest size, and sets the exit
 * code to 1.
 *
 * @param measure returns rates by their name: requests per second, or the inverse of a time
 */
export async function measureAtSizes(
  sizes: string,
  measure: (dataDir: string, seeded: Seeded) => Promise<ReadonlyMap<string, number>>,
): Promise<void> {
  let smallest: { issues: number; rates: ReadonlyMap<string, number> } | undefined
  for (const issues of sizes.split(',').map(Number)) {
    const rates = await withFolder((dataDir) => measure(dataDir, seedOnce(dataDir, issues)))
    smallest ??= { issues, rates }
    for (const [name, rate] of rates) {
      const left = rate / smallest.rates.get(name)!
      if (left >= LEAST_SHARE_LEFT) continue
      const percent = (left * 100).toFixed(0)
      process.stdout.write(
        `${name}: only ${percent} % of the rate at ${smallest.issues} issues is left at ${issues}  MISSED\n`,
      )
      process.exitCode = 1
    }
  }
}

/** Seeds a database, or copies the one that another benchmark stored in the folder `BENCH_SEEDS`. */
function seedOnce(dataDir: string, issues: number): Seeded {
  if (process.env.BENCH_SEEDS === undefined) return seed(dataDir, issues)
  const folder = path.join(process.env.BENCH_SEEDS, String(issues))
  const seeded = path.join(folder, 'seeded.json')
  const database = path.join(folder, 'service.db')
  if (!existsSync(seeded)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(seeded, JSON.stringify(seed(folder, issues)))
  }
  cpSync(database, path.join(dataDir, 'service.db'))
  return JSON.parse(readFileSync(seeded, 'utf8'))
}
