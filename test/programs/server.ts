import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../src/platform/package-root.ts'

// biome-ignore lint/suspicious/noExplicitAny: arbitrary fields of responses are read.
export type Json = any

/** A server in a separate process, as users start it. */
export interface Server {
  child: ChildProcess
  /** Sends a request as the board. Fails unless the response is 2xx. */
  request(method: string, path: string, body?: object): Promise<Json>
  stop(): Promise<void>
}

export async function startServer(dataDir: string): Promise<Server> {
  const launcher = path.join(packageRoot(), 'bin/service.mjs')
  const sandbox = process.env.SANDBOX ? ['--sandbox', process.env.SANDBOX] : []
  const options = ['--json', '--port', '0', '--data-dir', dataDir, ...sandbox]
  const child = spawn(process.execPath, [launcher, 'start', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = JSON.parse(line)
  return {
    child,
    async request(method, path, body) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const reply: Json = await response.json()
      assert.ok(response.ok, `${method} ${path}: ${reply.error}`)
      return reply
    },
    async stop() {
      const exit = once(child, 'exit')
      child.kill('SIGINT')
      await exit
    },
  }
}

/** Polls a condition that has no event, for up to 60 s. */
export async function until(holds: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 1_200, `waited 60 s for ${what}`)
    await delay(50)
  }
}
