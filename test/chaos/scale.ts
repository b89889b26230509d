/**
 * Simulates a large company: `npm run prove:scale [-- 10000 1000000 168 600]`,
 * with the number of agents, issues and simulated hours, and the seconds after
 * which the simulation ends early, excluding the time to insert the issues.
 *
 * Every agent has a timer of one hour. The real scheduler runs on a clock that
 * the simulation moves; a run is a row that ends a few simulated minutes later,
 * with a cost and a comment. Prints the speed (simulated time by real time)
 * and the time of a tick; exits 1 below 100 times, or if a timer was missed.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { v7 as uuid } from 'uuid'
import { seed } from '../../bench/seed.ts'
import { SYSTEM } from '../../src/access/caller/caller.ts'
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
import { createScheduler } from '../../src/runtime/scheduler/scheduler.ts'
import { addComment } from '../../src/work/issue/comment.ts'
import { getIssue } from '../../src/work/issue/get.ts'

export interface ScaleReport {
  simulatedHours: number
  seconds: number
  runs: number
  /** The smallest number of runs of one agent. */
  fewestRuns: number
  tickMs: { median: number; p99: number; most: number }
  megabytes: number
}

const STEP_MS = 10_000
const RUN_MS = 5 * 60_000
const INTERVAL_MS = 3_600_000

const PROGRESS_MS = 10_000

/**
 * @param patienceMs real time after which the simulation ends early
 * @param tell receives a line about the progress every ten seconds
 */
export async function simulate(
  size: { agents: number; issues: number; hours: number },
  patienceMs = Number.POSITIVE_INFINITY,
  tell: (line: string) => void = () => {},
): Promise<ScaleReport> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-scale-'))
  tell(`Inserting ${size.issues} issues.`)
  const { companyId, issueIds } = seed(dataDir, size.issues)
  const begin = Date.now()
  let now = begin
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date(now) })
  const config = { ...readConfig({ dataDir, port: '0' }, {}), maxRuns: size.agents, loopRuns: 0 }
  const vault = createVault(randomBytes(32))
  const ctx = createContext({ sqlite, clock: { now: () => new Date(now) }, config, log: createLog(() => {}), vault })
  const live: { run: RunRow; endsAt: number }[] = []
  const scheduler = createScheduler(ctx, {
    execute: (run) => void live.push({ run, endsAt: now + RUN_MS }),
    reconcile() {},
  })
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
    let finished = 0
    let toldAt = began
    const end = begin + size.hours * INTERVAL_MS
    for (; now < end && performance.now() - began < patienceMs; now += STEP_MS) {
      const due = live.findIndex(({ endsAt }) => endsAt > now)
      const ended = live.splice(0, due === -1 ? live.length : due)
      await Promise.all(ended.map(({ run }) => ctx.write(() => finish(run, issueIds[finished++ % issueIds.length]!))))
      const tickBegan = performance.now()
      await scheduler.tick()
      ticks.push(performance.now() - tickBegan)
      if (performance.now() - toldAt < PROGRESS_MS) continue
      toldAt = performance.now()
      tell(`${((now - begin) / INTERVAL_MS).toFixed(1)} of ${size.hours} h, ${finished} runs.`)
    }
    const seconds = (performance.now() - began) / 1_000
    const perAgent = ctx.db.all(
      sql.selectFrom('run').select(raw<number>`count(*)`.as('n')).groupBy('agent_id').orderBy('n'),
    )
    const sorted = ticks.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
    return {
      simulatedHours: (now - begin) / INTERVAL_MS,
      seconds,
      runs: perAgent.reduce((sum, { n }) => sum + n, 0),
      fewestRuns: perAgent.length < size.agents ? 0 : perAgent[0]!.n,
      tickMs: { median: at(0.5), p99: at(0.99), most: at(1) },
      megabytes: process.memoryUsage.rss() / 1024 / 1024,
    }
  } finally {
    scheduler.close()
    await ctx.reader.close()
    sqlite.close()
    rmSync(dataDir, { recursive: true, force: true })
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
  const [agents = 10_000, issues = 1_000_000, hours = 168, patienceSec = Number.POSITIVE_INFINITY] = process.argv
    .slice(2)
    .map(Number)
  const report = await simulate({ agents, issues, hours }, patienceSec * 1_000, (line) =>
    process.stderr.write(`${line}\n`),
  )
  const times = (report.simulatedHours * 3_600) / report.seconds
  const { median, p99, most } = report.tickMs
  process.stdout.write(
    `${agents} agents, ${issues} issues: ${report.simulatedHours.toFixed(1)} h in ${report.seconds.toFixed(0)} s, ${times.toFixed(0)} times\n`,
  )
  process.stdout.write(
    `${report.runs} runs, at least ${report.fewestRuns} of each agent; ${report.megabytes.toFixed(0)} MB\n`,
  )
  process.stdout.write(`a tick: ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${most.toFixed(1)} ms\n`)
  if (times < 100 || report.fewestRuns < Math.floor(report.simulatedHours)) process.exitCode = 1
}
