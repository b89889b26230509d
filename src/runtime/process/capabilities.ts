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

/** Finds a program as the system would: an absolute path itself, or a name along `searchPath`. Returns null if there is none. */
export function findProgram(command: string, searchPath: string): string | null {
  if (command.startsWith('/')) return isProgram(command) ? command : null
  if (command === '' || command.includes('/')) return null
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, command)
    if (folder.startsWith('/') && isProgram(path)) return path
  }
  return null
}

/**
 * Makes a function that asks programs for their version and their options.
 * Null when there is no such program; a program that hangs, fails or floods
 * is one of which nothing is known. Each is asked once until its file changes.
 *
 * `env` is what the programs see, `PATH` included. `timeoutMs` is for each question.
 */
export function createProbe(
  env: Record<string, string>,
  timeoutMs = 5000,
): (command: string, helpArgs?: readonly string[]) => Promise<Capabilities | null> {
  const known = new Map<string, { key: string; answer: Promise<Capabilities> }>()

  return async (command, helpArgs = ['--help']) => {
    const path = findProgram(command, env.PATH ?? '')
    if (!path) return null
    const file = await stat(path).catch(() => null)
    if (!file) return null
    const key = `${file.mtimeMs} ${file.size} ${file.ino}`
    const question = JSON.stringify([path, helpArgs])
    const found = known.get(question)
    if (found?.key === key) return found.answer
    const answer = examine(path, helpArgs, env, timeoutMs)
    known.set(question, { key, answer })
    answer.catch(() => known.delete(question))
    return answer
  }
}

async function examine(
  path: string,
  helpArgs: readonly string[],
  env: Record<string, string>,
  timeoutMs: number,
): Promise<Capabilities> {
  const [help, version] = await Promise.all([
    ask(path, helpArgs, env, timeoutMs),
    ask(path, ['--version'], env, timeoutMs),
  ])
  const flags = new Set(help?.match(/(?<![\w-])--?[A-Za-z][\w-]*/g))
  return { path, version: version?.trim().split('\n')[0]?.slice(0, 200) || null, flags: flags.size > 0 ? flags : null }
}

const ANSWER_LIMIT = 256 * 1024

/** What the program prints, cut to 256 KB, or null when it does not end well and in time. */
function ask(
  path: string,
  args: readonly string[],
  env: Record<string, string>,
  timeoutMs: number,
): Promise<string | null> {
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
