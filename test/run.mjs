// Runs every test: type stripping needs no build. A file or folder name limits it to those.
import { spawnSync } from 'node:child_process'

const paths = process.argv.slice(2)
const globs =
  paths.length > 0 ? paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)) : ['test/**/*.test.ts']
const { status } = spawnSync(process.execPath, ['--test', '--test-timeout=120000', ...globs], { stdio: 'inherit' })
process.exitCode = status ?? 1
