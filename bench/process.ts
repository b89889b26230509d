import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface ServerProcess {
  port: number
  pid: number
  stop(): Promise<void>
}

interface ServeOptions {
  /** The arguments of serve.ts. */
  args: readonly string[]
  /** The options of Node. */
  options?: readonly string[]
  environment?: Record<string, string>
}

/** Starts bench/serve.ts, with the options in `BENCH_NODE_OPTIONS` (`--cpu-prof`), and waits for its port. */
export const serve = (...args: string[]) =>
  serveFrom(import.meta.dirname, { args, options: (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean) })

/** Starts serve.ts of a folder, which may belong to another checkout. */
export async function serveFrom(
  folder: string,
  { args, options = [], environment }: ServeOptions,
): Promise<ServerProcess> {
  const program = path.join(folder, 'serve.ts')
  const child = spawn(process.execPath, [...options, program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${program} ended with ${code}.`)))
  failed.catch(() => {})
  const [port] = await Promise.race([once(child.stdout, 'data'), failed])
  return { port: Number(port), pid: child.pid!, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** Runs something with a folder that is gone afterwards. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-bench-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the CPU time of the threads of a process so far, user and system, in seconds. Linux counts it in nanoseconds. */
export function cpuSeconds(pid: number): number {
  const nanosecondsOf = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + nanosecondsOf(thread), 0) / 1e9
}
