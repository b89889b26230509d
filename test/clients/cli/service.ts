import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'

/** The exit status and the output of the program. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
}

export interface ServiceProcess {
  child: ChildProcess
  ended: Promise<Ended>
}

/** A server that runs as a separate process. */
export interface ServerUnderTest extends ServiceProcess {
  url: string
  pid: number
}

/** The launcher that users start. It is JavaScript that runs on any Node. */
export const LAUNCHER = path.join(packageRoot(), 'bin/service.mjs')

/** Returns the variable by which a program that runs from its sources finds its compiled modules. */
export const compileCache = () => {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
}

/** Returns the environment of a test process, without the settings of the developer. */
export const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NO_COLOR: '1',
  ...compileCache(),
  ...more,
})

/** Starts the program through its launcher, and kills its remaining processes after the test. */
export function spawnService(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  node = process.execPath,
): ServiceProcess {
  const stdio = ['pipe', 'pipe', 'pipe'] as const
  const child = spawn(node, [LAUNCHER, ...args], { stdio: [...stdio], env: environment(env), detached: true })
  child.stdin.end()
  t.after(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // The process group has already ended.
    }
  })
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
    ([out, err, [code, signal]]) => ({ code, signal, out, err }),
  )
  return { child, ended }
}

export const runService = (t: TestContext, args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  spawnService(t, args, env).ended

/** Starts a server on a free port and waits until it is ready. */
export async function startService(t: TestContext, args: string[]): Promise<ServerUnderTest> {
  const service = spawnService(t, ['start', '--json', ...(args.includes('--port') ? [] : ['--port', '0']), ...args])
  const line = await Promise.race([once(service.child.stdout!, 'data').then(([data]) => String(data)), service.ended])
  if (typeof line !== 'string') throw new Error(`The server did not start: ${line.err}`)
  return { ...service, ...(JSON.parse(line) as { url: string; pid: number }) }
}

/** Starts a server, and returns functions that run commands against it. A failed command fails the test. */
export async function withServer(t: TestContext) {
  const dataDir = temporaryFolder(t)
  await startService(t, ['--data-dir', dataDir])
  const run = (args: string[], env: Record<string, string> = {}) => runService(t, [...args, '--data-dir', dataDir], env)
  const out = async (...args: string[]) => {
    const { code, out, err } = await run(args)
    assert.deepEqual([code, err], [0, ''], args.join(' '))
    return out
  }
  const json = async (...args: string[]) => JSON.parse(await out(...args, '--json'))
  return { dataDir, run, out, json }
}
