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

/** An answer, with its body read. `body` is `any`: tests look into it freely. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  body: any
}

/** The context of a test app, with the run tokens that the server hands to its executor. */
export type TestServices = AccessContext & Pick<OwnedContext, 'flush' | 'untilFree'> & { tokens: RunTokens }

export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** The whole app over a real database of its own, with a clock that only the test moves. */
export interface TestApp {
  ctx: TestServices
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
  /** The secrets that went in and out; none may be found again in an answer, an event, the log or the data directory. */
  canaries: Canaries
  /** Does something after the test, before the database is closed. */
  onClose(close: () => void | Promise<void>): void
}

/** Makes a folder that is searched for secrets and removed after the test. */
export function temporaryFolder(t: TestContext): string {
  const { folder, canaries, closing } = closableFolder(t)
  closing.push(() => canaries.searchFolder(folder))
  return folder
}

/**
 * A folder that is removed after the test, when what uses it was closed, the
 * latest first; and the secrets of whatever uses it: the test fails if they
 * were found anywhere.
 */
export function closableFolder(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-test-'))
  const canaries = createCanaries()
  const closing: (() => void | Promise<void>)[] = []
  afterTest(t, async () => {
    await runAll(closing.toReversed())
    rmSync(folder, { recursive: true, force: true })
    canaries.assertNoHits()
  })
  return { folder, canaries, closing }
}

type Step = () => unknown

const stepsOf = new WeakMap<TestContext, Step[]>()

/**
 * Like `t.after`, but the latest first and whatever fails: that one leaves the
 * later ones out, and with them a server that keeps the process.
 */
function afterTest(t: TestContext, step: Step): void {
  const steps = stepsOf.get(t)
  if (steps) {
    steps.push(step)
    return
  }
  const own = [step]
  stepsOf.set(t, own)
  t.after(() => runAll(own.toReversed()))
}

/** Takes every step, whatever fails, and then throws the first failure. */
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
  const { folder: dataDir, canaries, closing } = closableFolder(t)
  const config: Config = { ...readConfig({ dataDir }, {}), selfCheck: true, ...overrides }
  const clock = stoppedClock('2026-11-21T09:00:00.000Z')
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
    // While the WAL is there, which holds what the database does not any more.
    async () => {
      await searchExports(ctx, canaries)
      canaries.search('the log', logged.join(''))
      canaries.searchFolder(dataDir)
    },
  )
  const app = createApp(ctx, ctx.tokens)

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
      noticeHeaders(canaries, init.headers)
      noticeBody(canaries, path, text)
      const response = await app.request(path, init)
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const answer = await response.text()
      // An answer of 5xx is always our bug; a test that wants one (a full disk) asks the app itself.
      assert.ok(response.status < 500 || response.status === 507, `${method} ${path}: ${answer} ${logged.join('')}`)
      const content = isJson && answer ? JSON.parse(answer) : answer
      // A page's form is answered by a page, whatever went wrong.
      const isPage = response.headers.get('content-type')?.startsWith('text/html')
      if (response.status >= 400 && method !== 'HEAD' && !isPage) v.assert(ErrorAnswer, content)
      const given = JSON.stringify([...response.headers]) + answer
      canaries.search(answerOf(method, path), given, ownToken(path, text))
      canaries.assertNoHits()
      noticeAnswer(canaries, method, path, response.headers, content)
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
    canaries,
    onClose: (close) => closing.push(close),
  }
}

/** Notices the secrets that a server makes or is given, and searches its events. */
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

/** The largest company that is exported after its test: more issues are rows that measure something, and take minutes. */
const MOST_ISSUES = 1_000

const companies = sql
  .selectFrom('company')
  .leftJoin('issue', 'issue.company_id', 'company.id')
  .select(['company.id', (eb) => eb.fn.count<number>('issue.id').as('issues')])
  .groupBy('company.id')

/** Exports every company with all there is of it, and searches the packages. */
async function searchExports(ctx: Context, canaries: Canaries): Promise<void> {
  const include = { company: true, agents: true, projects: true, issues: true }
  for (const { id, issues } of ctx.db.all(companies)) {
    if (issues > MOST_ISSUES) continue
    canaries.search('an export', JSON.stringify(await previewExport(ctx, SYSTEM, id, { include })))
  }
}

let emptyDatabase: Buffer | undefined

/** Like `openDatabase` for a file that does not exist: the schema is created once and then copied. */
function openNewDatabase(file: string, options: Parameters<typeof openDatabase>[1]) {
  if (emptyDatabase) writeFileSync(file, emptyDatabase)
  else {
    openDatabase(file, options).close()
    emptyDatabase = readFileSync(file)
  }
  return openDatabase(file, options)
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
