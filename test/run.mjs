// Runs every test: type stripping needs no build. A file or folder name limits it to those.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const paths = process.argv.slice(2)
const globs =
  paths.length > 0 ? paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)) : ['test/**/*.test.ts']
// Many tests wait for processes, so two at a time pay even where there is but one core to spare.
const concurrency = Math.max(2, availableParallelism())
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-timeout=120000', `--test-concurrency=${concurrency}`, ...globs],
  // Each file is a process that loads the program anew: what was compiled once is kept for the next.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: 'node_modules/.cache/test', ...process.env } },
)
process.exitCode = status ?? 1
