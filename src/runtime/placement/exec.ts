import { spawn } from 'node:child_process'
import { PlacementFault } from './driver.ts'

export interface Result {
  code: number
  stdout: string
  stderr: string
}

/** The maximum output of a program, in bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/**
 * Runs a command-line program of an engine, such as `squeue`.
 *
 * @param options.forks whether the program leaves a process in the background, which keeps its output open
 * @throws PlacementFault if it is not installed or exceeds the timeout
 */
export function exec(
  [program, ...args]: readonly [string, ...string[]],
  options: { env: Record<string, string>; input?: string | Buffer; timeoutMs?: number; forks?: boolean },
): Promise<Result> {
  const { env, input = '', timeoutMs = 60_000, forks = false } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new PlacementFault(`${program} did not respond within ${timeoutMs / 1_000} seconds.`, true))
    }, timeoutMs)
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], bytes: 0 }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        output.bytes += chunk.length
        if (output.bytes <= MAX_OUTPUT_BYTES) output[name].push(chunk)
      })
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(late)
      reject(
        new PlacementFault(
          error.code === 'ENOENT' ? `The program ${program} was not found on the server's machine.` : error.message,
        ),
      )
    })
    const finish = (code: number | null) => {
      clearTimeout(late)
      resolve({
        code: code ?? 255,
        stdout: Buffer.concat(output.stdout).toString(),
        stderr: Buffer.concat(output.stderr).toString(),
      })
    }
    // Not at the exit: under load, the output arrives later, and a part of it would look like all of it.
    child.once('close', finish)
    if (forks) {
      child.once('exit', () => {
        const soon = setTimeout(() => {
          child.stdout.destroy()
          child.stderr.destroy()
        }, 250)
        child.once('close', () => clearTimeout(soon))
      })
    }
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Quotes a word for a POSIX shell. */
export const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

export const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim() ?? ''
