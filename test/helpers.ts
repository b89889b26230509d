import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import * as v from 'valibot'
import type { Clock } from '../src/clock.ts'
import { type Config, readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import { openDatabase } from '../src/database/open.ts'
import { createApp } from '../src/http/app.ts'
import { ErrorAnswer } from '../src/http/openapi.ts'
import { createLog } from '../src/log.ts'
import { createRunTokens } from '../src/run/token.ts'
import { createVault } from '../src/secret/vault.ts'

/** An answer, with its body read. `body` is `any`: tests look into it freely. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  body: any
}

export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** The whole app over a real database of its own, with a clock that only the test moves. */
export interface TestApp {
  ctx: Context
  config: Config
  /** Asks as the board. */
  ask: Ask
  /** Asks with a bearer token. */
  as(token: string): Ask
  /** Asks as the board and fails unless the status is 2xx; returns the body. */
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  make(method: string, path: string, body?: unknown): Promise<any>
  clock: Clock & { move(ms: number): void; set(at: string): void }
  /** What the server logged, a line each. */
  logged: string[]
  /** Does something after the test, before the database is closed. */
  onClose(close: () => void | Promise<void>): void
}

/** Makes a folder that is removed after the test. */
export const temporaryFolder = (t: TestContext): string => closableFolder(t).folder

/** A folder that is removed after the test, when what uses it was closed, the latest first. */
function closableFolder(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-test-'))
  const beforeRemoval: (() => void | Promise<void>)[] = []
  t.after(async () => {
    for (const close of beforeRemoval.toReversed()) await close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, beforeRemoval }
}

export function createTestApp(t: TestContext, overrides: Partial<Config> = {}): TestApp {
  const { folder: dataDir, beforeRemoval: closing } = closableFolder(t)
  const config: Config = { ...readConfig({ dataDir }, {}), checkAnswers: true, ...overrides }
  const clock = stoppedClock('2026-11-21T09:00:00.000Z')
  const logged: string[] = []
  const log = createLog((line) => logged.push(line))
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: clock.now() })
  const tokens = createRunTokens(new Uint8Array(32).fill(7))
  const vault = createVault(new Uint8Array(32).fill(9))
  const ctx = createContext({ sqlite, clock, config, log, tokens, vault })
  closing.push(() => {
    sqlite.close()
  })
  const app = createApp(ctx)

  const asking =
    (credential: Record<string, string>): Ask =>
    async (method, path, body, headers = {}) => {
      const isRaw = typeof body === 'string' || body instanceof FormData || body === undefined
      const text = isRaw ? body : JSON.stringify(body)
      // A form brings a type of its own, with its boundary.
      const type = typeof text === 'string' ? { 'content-type': 'application/json' } : undefined
      const init = {
        method,
        headers: { ...type, ...credential, ...headers },
        ...(text !== undefined && { body: text }),
      }
      const response = await app.request(path, init)
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const answer = await response.text()
      // An answer of 5xx is always our bug; a test that wants one (a full disk) asks the app itself.
      assert.ok(response.status < 500 || response.status === 507, `${method} ${path}: ${answer} ${logged.join('')}`)
      const content = isJson && answer ? JSON.parse(answer) : answer
      // A page's form is answered by a page, whatever went wrong.
      const isPage = response.headers.get('content-type')?.startsWith('text/html')
      if (response.status >= 400 && method !== 'HEAD' && !isPage) v.assert(ErrorAnswer, content)
      return { status: response.status, headers: response.headers, body: content }
    }

  const ask = asking({})
  return {
    ctx,
    config,
    ask,
    as: (token) => asking({ authorization: `Bearer ${token}` }),
    async make(method, path, body) {
      const answer = await ask(method, path, body)
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    clock,
    logged,
    onClose: (close) => closing.push(close),
  }
}

function stoppedClock(start: string) {
  let now = Date.parse(start)
  return {
    now: () => new Date(now),
    move(ms: number) {
      now += ms
    },
    set(at: string) {
      now = Date.parse(at)
    },
  }
}
