/**
 * Simulates a large company: `npm run prove:scale [-- 10000 1000000 168 600 60]`,
 * with the number of agents, issues and simulated hours, the seconds after
 * which the simulation ends early, excluding the time to insert the issues, and
 * the seconds of real time that follow.
 *
 * Every agent has a timer of one hour. The real scheduler runs on a clock that
 * the simulation moves; a run is a row that ends a few simulated minutes later,
 * with a cost and a comment. Prints the speed (simulated time by real time)
 * and the time of a tick. Then the scheduler runs on the real clock, while a
 * client reads what the page reads. Prints how late the wakes start, and the
 * time of a response. Exits 1 below 100 times, if a timer was missed, if a wake
 * starts a second late, or if a response takes 100 ms (99th percentiles).
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { v7 as uuid } from 'uuid'
import { seed } from '../../bench/seed.ts'
import { cookieNames } from '../../src/access/auth/cookies.ts'
import { createSignIn } from '../../src/access/auth/sign-in.ts'
import { SYSTEM } from '../../src/access/caller/caller.ts'
import { createApp } from '../../src/app.ts'
import { findAgent } from '../../src/organization/agent/queries.ts'
import { recordRunUsage } from '../../src/organization/budget/record-cost.ts'
import type { RunRow } from '../../src/organization/run/run.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createContext } from '../../src/platform/context.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { raw, sql } from '../../src/platform/database/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { createVault } from '../../src/platform/vault.ts'
import { NO_FACTS } from '../../src/runtime/executor/facts.ts'
import { finishRun } from '../../src/runtime/executor/finish.ts'
import { createRunTokens } from '../../src/runtime/executor/run-token.ts'
import { createScheduler } from '../../src/runtime/scheduler/scheduler.ts'
import { addComment } from '../../src/work/issue/comment.ts'
import { getIssue } from '../../src/work/issue/get.ts'

export interface ScaleReport {
  simulatedHours: number
  seconds: number
  runs: number
  /** The smallest number of runs of one agent. */
  fewestRuns: number
  tickMs: Spread
  /** The memory of the process at the first and at the last report of the progress. */
  megabytes: { first: number; last: number }
  /** On the real clock: how late the wakes of timers start, and the time of a response. */
  live: { lateMs: Spread; responseMs: Spread }
}

interface Spread {
  count: number
  median: number
  p99: number
  most: number
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, median: at(0.5), p99: at(0.99), most: at(1) }
}

const STEP_MS = 10_000
const RUN_MS = 5 * 60_000
const INTERVAL_MS = 3_600_000

const PROGRESS_MS = 10_000

/** On the real clock: the duration of a run, and the interval of the requests. */
const LIVE_RUN_MS = 5_000
const REQUEST_EVERY_MS = 50

/**
 * @param patienceMs real time after which the simulation ends early
 * @param tell receives a line about the progress every ten seconds
 * @param liveMs how long the scheduler runs on the real clock afterwards
 */
export async function simulate(
  size: { agents: number; issues: number; hours: number },
  patienceMs = Number.POSITIVE_INFINITY,
  tell: (line: string) => void = () => {},
  liveMs = 0,
): Promise<ScaleReport> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-scale-'))
  tell(`Inserting ${size.issues} issues.`)
  const { companyId, issueIds } = seed(dataDir, size.issues)
  const begin = Date.now()
  let now = begin
  /** Once the scheduler runs on the real clock: the difference to it. */
  let ahead: number | undefined
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date(now) })
  const config = { ...readConfig({ dataDir, port: '0' }, {}), maxRuns: size.agents, loopRuns: 0 }
  const vault = createVault(randomBytes(32))
  const owned = createContext({
    sqlite,
    clock: { now: () => new Date(ahead === undefined ? now : Date.now() + ahead) },
    config,
    log: createLog(() => {}),
    vault,
  })
  const ctx = Object.assign(owned, { signIn: createSignIn(config, cookieNames(config, vault)) })
  const live: { run: RunRow; endsAt: number }[] = []
  const lateMs: number[] = []
  let finished = 0
  const finishNext = (run: RunRow) => ctx.write(() => finish(run, issueIds[finished++ % issueIds.length]!))
  const scheduler = createScheduler(ctx, {
    execute(run) {
      if (ahead === undefined) return void live.push({ run, endsAt: now + RUN_MS })
      const due = Date.parse(findAgent(ctx.db, { id: run.agent_id })!.timer_due_at!) - INTERVAL_MS
      lateMs.push(Date.now() + ahead - due)
      timers.add(setTimeout(() => void finishNext(run), LIVE_RUN_MS))
    },
    reconcile() {},
  })
  const timers = new Set<NodeJS.Timeout>()
  try {
    await ctx.write(() => {
      const at = ctx.now
      const agent = { company_id: companyId, role: 'engineer', adapter_type: 'process', created_at: at, updated_at: at }
      const runtime_config = JSON.stringify({ heartbeat: { enabled: true, intervalSec: INTERVAL_MS / 1_000 } })
      for (let n = 0; n < size.agents; n++) {
        const timer_due_at = new Date(begin + (n / size.agents) * INTERVAL_MS).toISOString()
        const own = { id: uuid(), name: `Agent ${n}`, url_key: `agent-${n}`, runtime_config, timer_due_at }
        ctx.db.run(sql.insertInto('agent').values({ ...agent, ...own }))
      }
    })
    const began = performance.now()
    const ticks: number[] = []
    const megabytes = { first: 0, last: 0 }
    let toldAt = began
    const end = begin + size.hours * INTERVAL_MS
    for (; now < end && performance.now() - began < patienceMs; now += STEP_MS) {
      const due = live.findIndex(({ endsAt }) => endsAt > now)
      const ended = live.splice(0, due === -1 ? live.length : due)
      await Promise.all(ended.map(({ run }) => finishNext(run)))
      const tickBegan = performance.now()
      await scheduler.tick()
      ticks.push(performance.now() - tickBegan)
      if (performance.now() - toldAt < PROGRESS_MS) continue
      toldAt = performance.now()
      megabytes.last = process.memoryUsage.rss() / 1024 / 1024
      megabytes.first ||= megabytes.last
      const times = (now - begin) / (toldAt - began)
      const rate = finished / ((toldAt - began) / 1_000)
      tell(
        `${((now - begin) / INTERVAL_MS).toFixed(1)} of ${size.hours} h, ${times.toFixed(0)} times, ${finished} runs, ${rate.toFixed(0)} a second, ${megabytes.last.toFixed(0)} MB`,
      )
    }
    const seconds = (performance.now() - began) / 1_000
    const perAgent = ctx.db.all(
      sql.selectFrom('run').select(raw<number>`count(*)`.as('n')).groupBy('agent_id').orderBy('n'),
    )
    const simulatedHours = (now - begin) / INTERVAL_MS
    const responses = liveMs > 0 ? await runLive() : []
    return {
      simulatedHours,
      seconds,
      runs: perAgent.reduce((sum, { n }) => sum + n, 0),
      fewestRuns: perAgent.length < size.agents ? 0 : perAgent[0]!.n,
      tickMs: spreadOf(ticks),
      megabytes,
      live: { lateMs: spreadOf(lateMs), responseMs: spreadOf(responses) },
    }
  } finally {
    scheduler.close()
    for (const timer of timers) clearTimeout(timer)
    await ctx.reader.close()
    sqlite.close()
    rmSync(dataDir, { recursive: true, force: true })
  }

  /** Lets the scheduler run on the real clock, and reads what the page reads. @returns the times of the responses, in ms */
  async function runLive(): Promise<number[]> {
    tell(`Running on the real clock for ${liveMs / 1_000} s.`)
    ahead = now - Date.now()
    await Promise.all(live.splice(0).map(({ run }) => finishNext(run)))
    const app = createApp(ctx, createRunTokens(randomBytes(32)))
    const company = `/api/companies/${companyId}`
    const targets = [
      'dashboard',
      'issues?limit=100',
      'agents?limit=100',
      'runs?limit=50',
      'activity?limit=50',
      'live-runs',
    ]
    const times: number[] = []
    await scheduler.start()
    // The wakes that were due before this moment started late because of the simulated clock.
    lateMs.length = 0
    for (const deadline = performance.now() + liveMs; performance.now() < deadline; await delay(REQUEST_EVERY_MS)) {
      const sentAt = performance.now()
      const response = await app.request(`${company}/${targets[times.length % targets.length]}`)
      await response.text()
      if (!response.ok) throw new Error(`${response.url}: ${response.status}`)
      times.push(performance.now() - sentAt)
    }
    return times
  }

  function finish(run: RunRow, issueId: string): void {
    const bearer = {
      companyId,
      agentId: run.agent_id,
      issueId,
      projectId: null,
      goalId: null,
      billingCode: null,
      runId: run.id,
    }
    const tokens = { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100 }
    recordRunUsage(ctx, bearer, { provider: 'p', model: 'm', ...tokens, costMicros: 1_000, costStatus: 'reported' })
    addComment(ctx, SYSTEM, getIssue(ctx, SYSTEM, issueId), 'The run found what it looked for.')
    finishRun(ctx, run.id, { reason: 'exited', exitCode: 0, signal: null, error: null, at: null }, NO_FACTS)
  }
}

if (import.meta.main) {
  const [agents = 10_000, issues = 1_000_000, hours = 168, patienceSec = Number.POSITIVE_INFINITY, liveSec = 60] =
    process.argv.slice(2).map(Number)
  const report = await simulate(
    { agents, issues, hours },
    patienceSec * 1_000,
    (line) => process.stderr.write(`${line}\n`),
    liveSec * 1_000,
  )
  const times = (report.simulatedHours * 3_600) / report.seconds
  const { megabytes, tickMs, live } = report
  const inWords = ({ median, p99, most }: Spread) =>
    `${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${most.toFixed(1)} ms`
  process.stdout.write(
    `${agents} agents, ${issues} issues: ${report.simulatedHours.toFixed(1)} h in ${report.seconds.toFixed(0)} s, ${times.toFixed(0)} times\n`,
  )
  process.stdout.write(
    `${report.runs} runs, at least ${report.fewestRuns} of each agent; ${megabytes.first.toFixed(0)} MB at first, ${megabytes.last.toFixed(0)} MB at last\n`,
  )
  process.stdout.write(`a tick: ${inWords(tickMs)}\n`)
  process.stdout.write(`on the real clock, ${live.lateMs.count} wakes started late by ${inWords(live.lateMs)}\n`)
  process.stdout.write(`${live.responseMs.count} responses took ${inWords(live.responseMs)}\n`)
  // The last tick was a step before the end, so timers that were due after it have not started.
  const fullHours = Math.floor(report.simulatedHours - STEP_MS / INTERVAL_MS)
  if (times < 100 || report.fewestRuns < fullHours || live.lateMs.p99 >= 1_000 || live.responseMs.p99 >= 100)
    process.exitCode = 1
}
