// Runs the tests: type stripping needs no build. Arguments are test files or
// folders and limit the run to them. `--ci` runs the long suites, `*.ci.test.ts`.
import { globSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { buildIfStale } from '../build.mjs'

const CACHE = path.resolve('node_modules/.cache/test')
const MEMORY = '/dev/shm'
/** Many tests wait for processes: one process more than cores keeps all cores busy. */
const PROCESSES = availableParallelism() + 1
/** The least number of files that one process runs, one after the other. */
const FILES_OF_A_PROCESS = 5
/** Where tests start processes. */
const STARTS_PROCESSES = /^test\/(chaos|clients|runtime)\//

const args = process.argv.slice(2)
const isCi = args.includes('--ci')
const paths = args.filter((arg) => arg !== '--ci')
const files = (paths.length > 0 ? paths : ['test'])
  .flatMap((given) => (given.endsWith('.ts') ? [given] : globSync(`${given}/**/*.test.ts`)))
  .filter((file) => paths.includes(file) || file.endsWith('.ci.test.ts') === isCi)
  .sort()
if (files.length === 0) {
  process.stderr.write(`There is no test in ${paths.join(', ') || 'test'}.\n`)
  process.exit(1)
}

Object.assign(process.env, {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? CACHE,
  TMPDIR: process.env.TMPDIR ?? temporaryFolder(),
})
// Once, and not at the same time by the first tests that start the program.
if (paths.length === 0) await buildIfStale()
run({
  files: isCi || files.length <= FILES_OF_A_PROCESS ? files : inGroups(files),
  concurrency: PROCESSES,
  execArgv: [
    `--import=${import.meta.resolve('./no-async-hooks.mjs')}`,
    ...(process.env.RECORDED_STATEMENTS ? [`--import=${import.meta.resolve('./indexes/record.ts')}`] : []),
    `--test-timeout=${isCi ? 600_000 : 120_000}`,
  ],
})
  .on('test:fail', () => {
    process.exitCode = 1
  })
  .compose(spec)
  .pipe(process.stdout)

/** Every test has a database of its own: in memory, a commit does not wait for the disk. */
function temporaryFolder() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > 2 ** 31 ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/**
 * Writes modules that each import some of the files. A process loads and
 * compiles the program once for all of them, which takes longer than most tests.
 * Tests that start processes have groups of their own: a fork takes longer in a
 * process whose memory other tests have filled.
 */
function inGroups(all) {
  const folder = path.join(CACHE, `groups-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const [starting, others] = [true, false].map((is) => cut(all.filter((file) => STARTS_PROCESSES.test(file) === is)))
  // In turn, because the first ones wait and the others compute.
  const count = Math.max(starting.length, others.length)
  const groups = Array.from({ length: count }, (_, n) => [starting[n] ?? [], others[n] ?? []]).flat()
  return groups
    .filter((files) => files.length > 0)
    .map((files, n) => {
      const group = path.join(folder, `${String(n).padStart(2, '0')}.mjs`)
      const imports = files.map((file) => `import ${JSON.stringify(path.resolve(file))}`)
      writeFileSync(group, `${imports.join('\n')}\n`)
      return group
    })
}

/** Cuts files into groups that shrink, so that the processes end at about the same time. */
function cut(files) {
  // Every 13th file, since the slow ones are neighbours.
  const mixed = Array.from({ length: 13 }, (_, n) => files.filter((_, i) => i % 13 === n)).flat()
  const groups = []
  while (mixed.length > 0)
    groups.push(mixed.splice(0, Math.max(FILES_OF_A_PROCESS, Math.ceil(mixed.length / PROCESSES / 1.5))))
  return groups
}
