import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { killGroup } from './kill-group.ts'

/** The version and the options that a program prints. */
export interface Capabilities {
  path: string
  /** The first line of `--version`, or null if it printed none. */
  version: string | null
  /** The options in its help text, or null if it printed no help. */
  flags: ReadonlySet<string> | null
}

/** The folders that the system searches if PATH is not set. */
const DEFAULT_PATH = '/bin:/usr/bin'

/** Finds a program as the system does: by an absolute path, or by a name in `searchPath`. Returns null if it is missing. */
export function findProgram(command: string, searchPath = DEFAULT_PATH): string | null {
  if (command.startsWith('/')) return isProgram(command) ? command : null
  if (command === '' || command.includes('/')) return null
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, command)
    if (folder.startsWith('/') && isProgram(path)) return path
  }
  return null
}

export interface ProbeOptions {
  /** The time limit of each of the two calls, in milliseconds. */
  timeoutMs?: number
  /** How long the result of a timeout is cached, in milliseconds. The machine may have been busy. */
  retryMs?: number
}

/**
 * Creates a function that reads the version and the options of a program from
 * its output. It returns null if the program does not exist. For a program that
 * hangs or fails, version and options are null. The result is cached until the
 * program's file changes, or for `retryMs` after a timeout.
 *
 * @param env the environment of the programs. `searchPath` replaces its PATH, and `isolate` returns what isolates them
 */
export function createProbe(
  env: Record<string, string>,
  { timeoutMs = 5_000, retryMs = 60_000 }: ProbeOptions = {},
): (
  command: string,
  helpArgs?: readonly string[],
  searchPath?: string,
  isolate?: (path: string) => readonly string[],
) => Promise<Capabilities | null> {
  const cache = new Map<string, { fileVersion: string; result: Promise<Capabilities>; expiresAt: number }>()

  return async (command, helpArgs = ['--help'], searchPath = env.PATH, isolate = () => []) => {
    const path = findProgram(command, searchPath)
    if (!path) return null
    const file = await stat(path).catch(() => null)
    if (!file) return null
    const fileVersion = `${file.mtimeMs} ${file.size} ${file.ino}`
    const wrapper = isolate(path)
    const key = JSON.stringify([path, helpArgs, searchPath, wrapper])
    const cached = cache.get(key)
    if (cached?.fileVersion === fileVersion && performance.now() < cached.expiresAt) return cached.result
    const programEnv = searchPath === undefined ? env : { ...env, PATH: searchPath }
    const onTimeout = () => {
      entry.expiresAt = performance.now() + retryMs
    }
    const result = examine(path, helpArgs, { env: programEnv, wrapper, timeoutMs, onTimeout })
    const entry = { fileVersion, result, expiresAt: Number.POSITIVE_INFINITY }
    cache.set(key, entry)
    result.catch(() => cache.delete(key))
    return result
  }
}

interface RunOptions {
  env: Record<string, string>
  wrapper: readonly string[]
  timeoutMs: number
  onTimeout: () => void
}

async function examine(path: string, helpArgs: readonly string[], options: RunOptions): Promise<Capabilities> {
  const [help, version] = await Promise.all([
    readOutput(path, helpArgs, options),
    readOutput(path, ['--version'], options),
  ])
  const flags = new Set(help?.match(/(?<![\w-])--?[A-Za-z][\w-]*/g))
  return { path, version: version?.trim().split('\n')[0]?.slice(0, 200) || null, flags: flags.size > 0 ? flags : null }
}

const OUTPUT_LIMIT = 256 * 1024

/**
 * Returns the output of a program, truncated to 256 KB, or null if it fails or times out. Some programs print their
 * help to standard error only.
 */
function readOutput(
  path: string,
  args: readonly string[],
  { env, wrapper, timeoutMs, onTimeout }: RunOptions,
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const [program, ...rest] = [...wrapper, path, ...args]
    // A program may read settings from the folder in which it is started.
    const child = spawn(program!, rest, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    if (!child.stdout || !child.stderr) {
      // The server's limit of open files is reached. The program itself may work.
      child.on('error', reject)
      return
    }
    const streams = [child.stdout, child.stderr]
    const output = streams.map(() => '')
    let isCut = false
    const timer = setTimeout(() => {
      onTimeout()
      killGroup(child.pid)
      for (const stream of streams) stream.destroy() // a process that left the group may hold the pipe open
    }, timeoutMs)
    for (const [n, stream] of streams.entries()) {
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        output[n] += chunk
        if (output[n]!.length < OUTPUT_LIMIT) return
        isCut = true
        killGroup(child.pid)
      })
    }
    child.on('exit', () => killGroup(child.pid)) // remaining processes would hold the pipe open
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      if (error.code === 'EAGAIN' || error.code === 'ENOMEM') reject(error)
      else resolve(null)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve(code === 0 || isCut ? output[0] || output[1]! : null)
    })
  })
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
