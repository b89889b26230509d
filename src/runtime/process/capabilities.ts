import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** What a program says of itself. */
export interface Capabilities {
  path: string
  /** The first line of `--version`, or null when it gave none. */
  version: string | null
  /** The options that its help lists, or null when it gave no help. */
  flags: ReadonlySet<string> | null
}

/** Where the system looks for a program if there is no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin'

/** Finds a program as the system would: an absolute path itself, or a name along `searchPath`. Returns null if there is none. */
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
  /** How long a program may take for each of the two outputs, in milliseconds. */
  timeoutMs?: number
  /** After how many milliseconds a program that timed out is run again: the machine may have been busy. */
  retryMs?: number
}

/**
 * Creates a function that reads the version and the options of a program from
 * its output. It returns null if there is no such program. It returns neither
 * version nor options for a program that hangs or fails. The result is kept
 * until the program's file changes; after a timeout, for `retryMs` only.
 *
 * @param env the environment of the programs. `searchPath` replaces its PATH
 */
export function createProbe(
  env: Record<string, string>,
  { timeoutMs = 5_000, retryMs = 60_000 }: ProbeOptions = {},
): (command: string, helpArgs?: readonly string[], searchPath?: string) => Promise<Capabilities | null> {
  const known = new Map<string, { key: string; answer: Promise<Capabilities>; expiresAt: number }>()

  return async (command, helpArgs = ['--help'], searchPath = env.PATH) => {
    const path = findProgram(command, searchPath)
    if (!path) return null
    const file = await stat(path).catch(() => null)
    if (!file) return null
    const key = `${file.mtimeMs} ${file.size} ${file.ino}`
    const question = JSON.stringify([path, helpArgs, searchPath])
    const found = known.get(question)
    if (found?.key === key && performance.now() < found.expiresAt) return found.answer
    const seen = searchPath === undefined ? env : { ...env, PATH: searchPath }
    const onTimeout = () => {
      entry.expiresAt = performance.now() + retryMs
    }
    const answer = examine(path, helpArgs, { env: seen, timeoutMs, onTimeout })
    const entry = { key, answer, expiresAt: Number.POSITIVE_INFINITY }
    known.set(question, entry)
    answer.catch(() => known.delete(question))
    return answer
  }
}

interface AskOptions {
  env: Record<string, string>
  timeoutMs: number
  onTimeout: () => void
}

async function examine(path: string, helpArgs: readonly string[], options: AskOptions): Promise<Capabilities> {
  const [help, version] = await Promise.all([ask(path, helpArgs, options), ask(path, ['--version'], options)])
  const flags = new Set(help?.match(/(?<![\w-])--?[A-Za-z][\w-]*/g))
  return { path, version: version?.trim().split('\n')[0]?.slice(0, 200) || null, flags: flags.size > 0 ? flags : null }
}

const ANSWER_LIMIT = 256 * 1024

/** What the program prints, cut to 256 KB, or null when it does not end well and in time. */
function ask(path: string, args: readonly string[], { env, timeoutMs, onTimeout }: AskOptions): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    if (!child.stdout) {
      // The limit of open files is reached: that says nothing about the program.
      child.on('error', reject)
      return
    }
    let answer = ''
    let isCut = false
    const timer = setTimeout(() => {
      onTimeout()
      killGroup(child.pid)
      child.stdout.destroy() // something that left the group may hold the pipe
    }, timeoutMs)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      answer += chunk
      if (answer.length < ANSWER_LIMIT) return
      isCut = true
      killGroup(child.pid)
    })
    child.on('exit', () => killGroup(child.pid)) // what it leaves behind would hold the pipe, too
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      if (error.code === 'EAGAIN' || error.code === 'ENOMEM') reject(error)
      else resolve(null)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve(code === 0 || isCut ? answer : null)
    })
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // nobody is left in the group
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
