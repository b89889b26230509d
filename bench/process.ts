import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface ServerProcess {
  port: number
  pid: number
  stop(): Promise<void>
}

/** Starts bench/serve.ts, with what `BENCH_NODE_OPTIONS` says (`--cpu-prof`), and waits for its port. */
export async function serve(...args: string[]): Promise<ServerProcess> {
  const options = (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean)
  const program = path.join(import.meta.dirname, 'serve.ts')
  const child = spawn(process.execPath, [...options, program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
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
