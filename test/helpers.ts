import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import * as v from 'valibot'
import { cookieNames } from '../src/access/auth/cookies.ts'
import { type AccessContext, createSignIn } from '../src/access/auth/sign-in.ts'
import { SYSTEM } from '../src/access/caller/caller.ts'
import { createApp } from '../src/app.ts'
import { ErrorAnswer } from '../src/http/openapi.ts'
import type { Clock } from '../src/platform/clock.ts'
import { type Config, readConfig } from '../src/platform/config.ts'
import { type Context, createContext, type OwnedContext } from '../src/platform/context.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { sql } from '../src/platform/database/sql.ts'
import { createLog } from '../src/platform/log.ts'
import { createVault } from '../src/platform/vault.ts'
import { previewExport } from '../src/portability/export/export.ts'
import { createRunTokens, type RunTokens } from '../src/runtime/executor/run-token.ts'
import { type Canaries, createCanaries } from './canary/canaries.ts'
import { answerOf, noticeAnswer, noticeBody, noticeHeaders, noticeSealed, ownToken } from './canary/noticed.ts'

/** A response with its parsed body. `body` is `any`, because tests read any field. */
export interface TestResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  body: any
}

/** The context of a test app, with the run tokens that the server passes to its executor. */
export type TestServices = AccessContext & Pick<OwnedContext, 'flush' | 'untilFree'> & { tokens: RunTokens }

export type SendRequest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<TestResponse>

/** The complete app with its own database file, and a clock that only the test changes. */
export interface TestApp {
  ctx: TestServices
  config: Config
  /** Sends a request as the board. */
  request: SendRequest
  /** Returns a function that sends requests with a bearer token. */
  as(token: string): SendRequest
  /** Sends a request as the board, fails unless the status is 2xx, and returns the body. */
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  make(method: string, path: string, body?: unknown): Promise<any>
  clock: Clock & { move(ms: number): void; set(at: string): void }
  /** The log lines of the server. */
  logged: string[]
  /** The secrets of requests and responses. None may appear in another response, an event, the log or the data directory. */
  canaries: Canaries
  /** Registers a function that runs after the test, before the database is closed. */
  onClose(close: () => void | Promise<void>): void
}

/** Creates a folder that is searched for secrets and deleted after the test. */
export function temporaryFolder(t: TestContext): string {
  const { folder, canaries, closing } = createTestFolder(t)
  closing.push(() => canaries.searchFolder(folder))
  return folder
}

/**
 * Creates a folder that is deleted after the test. The functions in `closing`
 * run first, in reverse order. The test fails if a secret in `canaries` was
 * found anywhere.
 */
export function createTestFolder(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-test-'))
  const canaries = createCanaries()
  const closing: (() => void | Promise<void>)[] = []
  runAfterTest(t, async () => {
    await runAll(closing.toReversed())
    rmSync(folder, { recursive: true, force: true })
    canaries.assertNoHits()
  })
  return { folder, canaries, closing }
}

type Step = () => unknown

const stepsOf = new WeakMap<TestContext, Step[]>()

/**
 * Runs a step after the test, like `t.after`, but in reverse order and even if
 * another step fails. `t.after` skips the steps after a failure, so a server
 * could keep the process alive.
 */
function runAfterTest(t: TestContext, step: Step): void {
  const steps = stepsOf.get(t)
  if (steps) {
    steps.push(step)
    return
  }
  const own = [step]
  stepsOf.set(t, own)
  t.after(() => runAll(own.toReversed()))
}

/** Runs every step, even if one fails, and then throws the first error. */
async function runAll(steps: readonly Step[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

const keyFor = (name: string) => new Uint8Array(createHash('sha256').update(name).digest())

/** The keys of every test app. */
export const TEST_KEYS = { runToken: keyFor('run-token'), secret: keyFor('secret') }

export function createTestApp(t: TestContext, overrides: Partial<Config> = {}): TestApp {
  const { folder: dataDir, canaries, closing } = createTestFolder(t)
  const config: Config = { ...readConfig({ dataDir }, {}), selfCheck: true, ...overrides }
  const clock = createTestClock('2026-11-21T09:00:00.000Z')
  const logged: string[] = []
  const log = createLog((line) => logged.push(line))
  const sqlite = openNewDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: clock.now() })
  const tokens = createRunTokens(canaries.notice('key file', TEST_KEYS.runToken))
  const vault = createVault(canaries.notice('key file', TEST_KEYS.secret))
  const ctx = Object.assign(createContext({ sqlite, clock, config, log, vault }), {
    signIn: createSignIn(config, cookieNames(config, vault)),
    tokens,
  })
  watch(ctx, canaries)
  closing.push(
    () => {
      sqlite.close()
    },
    () => ctx.reader.close(),
    // Before the close deletes the WAL, which can contain deleted data.
    async () => {
      await searchExports(ctx, canaries)
      canaries.search('the log', logged.join(''))
      canaries.searchFolder(dataDir, emptyDatabase)
    },
  )
  const app = createApp(ctx, ctx.tokens)

  const sendWith =
    (credential: Record<string, string>): SendRequest =>
    async (method, path, body, headers = {}) => {
      const isRaw = typeof body === 'string' || body instanceof FormData || body === undefined
      const text = isRaw ? body : JSON.stringify(body)
      // A form sets its own content type, with its boundary.
      const type = typeof text === 'string' ? { 'content-type': 'application/json' } : undefined
      const init = {
        method,
        headers: { ...type, ...credential, ...headers },
        ...(text !== undefined && { body: text }),
      }
      noticeHeaders(canaries, init.headers)
      noticeBody(canaries, path, text)
      const response = await app.request(path, init)
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const reply = await response.text()
      // A 5xx response is always a bug. A test that expects one calls the app directly, except for a full disk (507).
      assert.ok(response.status < 500 || response.status === 507, `${method} ${path}: ${reply} ${logged.join('')}`)
      const content = isJson && reply ? JSON.parse(reply) : reply
      // The response to a page's form is always a page, even for an error.
      const isPage = response.headers.get('content-type')?.startsWith('text/html')
      if (response.status >= 400 && method !== 'HEAD' && !isPage) v.assert(ErrorAnswer, content)
      const given = JSON.stringify([...response.headers]) + reply
      canaries.search(answerOf(method, path), given, ownToken(path, text))
      canaries.assertNoHits()
      noticeAnswer(canaries, method, path, response.headers, content)
      return { status: response.status, headers: response.headers, body: content }
    }

  const send = sendWith({})
  return {
    ctx,
    config,
    request: send,
    as: (token) => sendWith({ authorization: `Bearer ${token}` }),
    async make(method, path, body) {
      const reply = await send(method, path, body)
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    },
    clock,
    logged,
    canaries,
    onClose: (close) => closing.push(close),
  }
}

/** Records the secrets that a server creates or receives, and searches its events for them. */
export function watch(
  { tokens, vault, events }: Pick<TestServices, 'tokens' | 'vault' | 'events'>,
  canaries: Canaries,
): void {
  const { sign } = tokens
  const { seal } = vault
  tokens.sign = async (run) => canaries.notice('run token', await sign(run))
  vault.seal = (place, value) => {
    noticeSealed(canaries, place, value)
    return seal(place, value)
  }
  events.subscribe((event) => canaries.search(`the event ${event.type}`, JSON.stringify(event)))
}

/** Companies with more issues are not exported after the test, because the export would take minutes. */
const MAX_EXPORTED_ISSUES = 1_000

const companies = sql
  .selectFrom('company')
  .leftJoin('issue', 'issue.company_id', 'company.id')
  .select(['company.id', (eb) => eb.fn.count<number>('issue.id').as('issues')])
  .groupBy('company.id')

/** Exports every company completely, and searches the packages for secrets. */
async function searchExports(ctx: Context, canaries: Canaries): Promise<void> {
  const include = { company: true, agents: true, projects: true, issues: true }
  for (const { id, issues } of ctx.db.all(companies)) {
    if (issues > MAX_EXPORTED_ISSUES) continue
    canaries.search('an export', JSON.stringify(await previewExport(ctx, SYSTEM, id, { include })))
  }
}

let emptyDatabase: Buffer | undefined

/** Opens a new database, like `openDatabase`. The schema is created once and then copied. */
function openNewDatabase(file: string, options: Parameters<typeof openDatabase>[1]) {
  if (emptyDatabase) writeFileSync(file, emptyDatabase)
  else {
    openDatabase(file, options).close()
    emptyDatabase = readFileSync(file)
  }
  return openDatabase(file, options)
}

function createTestClock(start: string) {
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
