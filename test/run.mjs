// Runs the tests: type stripping needs no build. Arguments are test files or
// folders and limit the run to them. `--ci` runs the long suites, `*.ci.test.ts`.
import { spawnSync } from 'node:child_process'
import { globSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'

const args = process.argv.slice(2)
const isCi = args.includes('--ci')
const paths = args.filter((arg) => arg !== '--ci')
const files = (paths.length > 0 ? paths : ['test'])
  .flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.test.ts`)))
  .filter((file) => paths.includes(file) || file.endsWith('.ci.test.ts') === isCi)
  .sort()
if (files.length === 0) {
  process.stderr.write(`There is no test in ${paths.join(', ') || 'test'}.\n`)
  process.exit(1)
}
// Every test has a database of its own: in memory, a commit does not wait for the disk.
const MEMORY = '/dev/shm'
function temporaryFolder() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > 2 ** 31 ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

// Many tests wait for processes, so two at a time help even if there is only one core.
const concurrency = Math.max(2, availableParallelism())
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-timeout=${isCi ? 600_000 : 120_000}`, `--test-concurrency=${concurrency}`, ...files],
  // Each file is a process that loads the program again: its compiled code is cached for the next.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: 'node_modules/.cache/test', TMPDIR: temporaryFolder(), ...process.env } },
)
process.exitCode = status ?? 1
