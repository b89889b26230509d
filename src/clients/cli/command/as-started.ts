import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isSea } from 'node:sea'
import { packageRoot } from '../../../platform/package-root.ts'
import { npmName } from '../../upgrade/newest-version.ts'
import { quoted } from './output.ts'

/** The process from which `programName` tells how the user started the program. */
interface Started {
  /** The script: a link in a `bin` folder, or `bin/service.mjs`. */
  script: string
  /** The executable as the user typed it, if the program is the single executable. */
  executable: string | null
  env: Record<string, string | undefined>
  cwd: string
}

const thisProcess = (): Started => ({
  script: process.argv[1] ?? '',
  executable: isSea() ? process.argv0 : null,
  env: process.env,
  cwd: process.cwd(),
})

/** Matches `service` where a text names a command: in backticks, in examples, and after words such as "Run". */
const COMMAND = /(?<=^|[`(]|\$ |[:;,] |-- |\b(?:[Rr]un|[Ss]ee|or|and|&&) )service(?= (?:[a-z]|--|\[))/gm

/**
 * Replaces `service` in the commands that a text suggests by the command that
 * started this program, so that the user can copy them: `npx service`,
 * `node bin/service.mjs` or the path of the executable. Only for texts of the
 * program, since the names and texts of users stay as they are.
 */
export const asStarted = (text: string): string => text.replaceAll(COMMAND, () => programName())

/** Returns the command that starts this program in the same way again. */
export function programName({ script, executable, env, cwd }: Started = thisProcess(), root = packageRoot()): string {
  if (executable !== null) return typedPath(executable, env, cwd)
  // npx also sets the variable for the programs that its program starts, so the file counts too.
  if (env.npm_command === 'exec' && !script.endsWith('.ts')) return `npx ${quoted(npxPackage(script, cwd, root))}`
  if (path.basename(script) === 'service.mjs') return `node ${quoted(fromHere(script, cwd))}`
  return path.basename(script) === 'service' ? typedPath(script, env, cwd) : 'service'
}

/** Returns the argument of npx: a checkout, the packed file from which npx installed the program, or the package. */
function npxPackage(script: string, cwd: string, root: string): string {
  if (existsSync(path.join(root, 'src', 'main.ts'))) return 'service'
  const name = npmName(root)
  // npx installs into a folder of its own: <folder>/node_modules/.bin/service.
  const folder = path.dirname(path.dirname(path.dirname(script)))
  try {
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const source: unknown = dependencies[name]
    if (typeof source === 'string' && source.startsWith('file:')) {
      const file = fromHere(path.resolve(folder, source.slice('file:'.length)), cwd)
      // Without `./`, npx takes `a/b.tgz` as a repository of GitHub.
      return /^\.?\//.test(file) ? file : `./${file}`
    }
  } catch {
    // The package is installed in a project, or npm has another layout.
  }
  return name
}

/** Returns `service` if the shell finds it, otherwise its path. */
function typedPath(file: string, env: Started['env'], cwd: string): string {
  if (!file.includes(path.sep)) return quoted(file)
  const absolute = path.resolve(cwd, file)
  const isFound = (env.PATH ?? '').split(path.delimiter).includes(path.dirname(absolute))
  return quoted(isFound ? path.basename(file) : fromHere(absolute, cwd))
}

/** Returns a path relative to the current folder if it is below, in a form that a shell executes. */
function fromHere(file: string, cwd: string): string {
  const relative = path.relative(cwd, file)
  if (relative.startsWith('..')) return file
  return relative.includes(path.sep) ? relative : `./${relative}`
}
