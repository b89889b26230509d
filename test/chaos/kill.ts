/**
 * Kills the server repeatedly: `npm run prove:crash [-- cycles=1000]`.
 * While agents run and eight writers add comments that wake them, the server
 * gets SIGKILL at a random moment and is restarted. Prints the measurements,
 * and exits with 1 if a guarantee is broken.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createClient } from '../../src/clients/connection/client.ts'
import { packageRoot } from '../../src/platform/package-root.ts'
import { markedProcesses } from '../../src/runtime/process/process-table.ts'

/**
 * The number of concurrent clients, and the milliseconds between two of their
 * comments. The rate is high enough that wakes of busy agents have more than 50 reasons.
 */
const WRITERS = 8
const WRITE_EVERY_MS = 50
/** The duration of the program of each agent, in milliseconds. */
const WORK_MS = [100, 300, 700, 1_500]
/** The allowed delay between the end of a process and the end of its run in the API, in milliseconds. */
const NOTICED_WITHIN_MS = 5_000
const OWNERLESS_AFTER_MS = 10_000
/** The maximum time from the start of a server to its kill, in milliseconds, or the duration of the start if that is longer. */
const LONGEST_LIFE_MS = 600

export interface KillReport {
  cycles: number
  writes: number
  lostWrites: number
  runs: number
  /** Runs with a result in the database that differs from the real result. */
  wrongEnds: number
  /** Runs that had claimed their wake but not started when the server was killed, and were retried. */
  neverStarted: number
  /** Causes without a finished run, or with more than one. */
  notServedOnce: number
  /** Wakes without a run, or with more than one. */
  wrongWakes: number
  heldByDead: number
  ownerless: number
}

interface Server {
  child: ChildProcess
  url: string
  /** The duration of the start in milliseconds, which shows the load of the machine. */
  startMs: number
}

/** @param tell receives a line about the progress every 50 cycles */
export async function killRepeatedly(cycles: number, tell: (line: string) => void = () => {}): Promise<KillReport> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-chaos-'))
  const notes = path.join(dataDir, 'notes')
  mkdirSync(notes)
  writeFileSync(
    path.join(dataDir, 'config.json'),
    JSON.stringify({ loopRuns: 0, issueRunsPerHour: 0, maxRuns: WORK_MS.length }),
  )
  let server = await start(dataDir, '0')
  const port = new URL(server.url).port
  const issueIds = await arrange(server.url, notes)
  const sqlite = new Database(path.join(dataDir, 'service.db'), { readonly: true })
  const acknowledged: string[] = []
  let [heldByDead, ownerless] = [0, 0]
  try {
    for (let cycle = 0; cycle < cycles; cycle++) {
      if (cycle > 0 && cycle % 50 === 0) tell(`${cycle} kills, ${acknowledged.length} acknowledged writes`)
      const life = new AbortController()
      const writing = Promise.all(
        Array.from({ length: WRITERS }, (_, n) => comment(server.url, issueIds, n, acknowledged, life.signal)),
      )
      await delay(Math.random() * Math.max(LONGEST_LIFE_MS, server.startMs))
      heldByDead += await countStaleRuns(sqlite, notes)
      ownerless += countRemainingProcesses(sqlite)
      await kill(server)
      life.abort()
      await writing
      server = await start(dataDir, port)
    }
    await waitUntilServed(server.url)
    await waitUntilEnded(sqlite)
    ownerless += countRemainingProcesses(sqlite)
    return { cycles, heldByDead, ownerless, ...audit(sqlite, notes, acknowledged) }
  } finally {
    await kill(server)
    sqlite.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The launcher starts the bundle, in a third of the time of the sources: each cycle starts a server and several shims. */
const LAUNCHER = path.join(packageRoot(), 'bin/service.mjs')

async function start(dataDir: string, port: string): Promise<Server> {
  const args = [LAUNCHER, 'start', '--json', '--port', port, '--data-dir', dataDir]
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The server ended with ${code}.`)))
  failed.catch(() => {})
  const [line] = await Promise.race([once(child.stdout, 'data'), failed])
  return { child, url: JSON.parse(String(line)).url, startMs: performance.now() - began }
}

async function kill({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** @returns the issues, one per agent */
async function arrange(url: string, notes: string): Promise<string[]> {
  const api = createClient({ url })
  const company = await api.request('POST /api/companies', { body: { name: 'Chaos' } })
  return Promise.all(
    WORK_MS.map(async (ms) => {
      const agent = await api.request('POST /api/companies/:companyId/agents', {
        params: { companyId: company.id },
        body: {
          name: `Works ${ms} ms`,
          adapterType: 'process',
          adapterConfig: {
            command: process.execPath,
            args: [path.join(packageRoot(), 'test/agents/chaos-worker.js'), String(ms), notes],
          },
        },
      })
      const issue = { title: `Work for ${ms} ms`, assigneeAgentId: agent.id, status: 'backlog' as const }
      return (
        await api.request('POST /api/companies/:companyId/issues', { params: { companyId: company.id }, body: issue })
      ).id
    }),
  )
}

/** Adds comments to one issue after the other, which wakes the agents, and stores the ids of acknowledged comments. */
async function comment(
  url: string,
  issueIds: string[],
  first: number,
  acknowledged: string[],
  until: AbortSignal,
): Promise<void> {
  for (let i = first; !until.aborted; i++) {
    try {
      const body = { body: `Comment ${i}` }
      const path = `/api/issues/${issueIds[i % issueIds.length]}/comments`
      const response = await createClient({ url }).send({ method: 'POST', path, body })
      if (response.status === 201) acknowledged.push(JSON.parse(response.text).id)
    } catch {
      return // the server was killed
    }
    await delay(WRITE_EVERY_MS)
  }
}

/** Counts the runs that stay live in the database without a process. */
async function countStaleRuns(sqlite: Database.Database, notes: string): Promise<number> {
  const live = sqlite.prepare<[], string>('select id from run where finished_at is null').pluck()
  const dead = () => {
    const [marked, begun] = [markedProcesses(), new Set(readdirSync(notes))]
    return live.all().filter((id) => begun.has(`${id}.begun`) && !marked.has(id))
  }
  let suspects = dead()
  for (const deadline = Date.now() + NOTICED_WITHIN_MS; suspects.length > 0 && Date.now() < deadline; ) {
    await delay(50)
    const still = new Set(dead())
    suspects = suspects.filter((id) => still.has(id))
  }
  return suspects.length
}

/** Counts the ended runs that still have a process some time after their end. */
function countRemainingProcesses(sqlite: Database.Database, afterMs = OWNERLESS_AFTER_MS): number {
  const before = new Date(Date.now() - afterMs).toISOString()
  const ended = sqlite.prepare<[string], string>('select id from run where finished_at < ?').pluck().all(before)
  const marked = markedProcesses()
  return ended.filter((id) => marked.has(id)).length
}

/** Waits until ended runs have no process, for at most the time after which a process counts as ownerless. */
async function waitUntilEnded(sqlite: Database.Database): Promise<void> {
  const deadline = Date.now() + OWNERLESS_AFTER_MS
  while (countRemainingProcesses(sqlite, 0) > 0 && Date.now() < deadline) await delay(100)
}

async function waitUntilServed(url: string): Promise<void> {
  const api = createClient({ url })
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await delay(100)) {
    const { liveRuns, waitingWakes } = await api.request('GET /api/instance')
    if (liveRuns + waitingWakes === 0) return
  }
}

function audit(sqlite: Database.Database, notes: string, acknowledged: readonly string[]) {
  const noted = new Set(readdirSync(notes))
  const runs = sqlite.prepare<[], FinishedRun & { error_code: string | null }>('select * from run').all()
  const comments = sqlite
    .prepare<[], CommentOnIssue>(
      'select comment.id, issue.id as issue_id from comment join issue on issue.seq = issue_seq',
    )
    .all()
  const served = new Map<string, number>()
  for (const run of runs.filter(({ status }) => status === 'succeeded')) {
    for (const id of servedBy(run, comments)) served.set(id, (served.get(id) ?? 0) + 1)
  }
  const isRight = ({ id, status, error_code }: (typeof runs)[number]) =>
    noted.has(`${id}.begun`)
      ? noted.has(`${id}.ended`) && status === 'succeeded'
      : status === 'lost' && error_code === 'never_started'
  const known = new Set(comments.map(({ id }) => id))
  const wrongWakes = sqlite
    .prepare<[], string>(
      "select id from wake where status = 'dropped' or (select count(*) from run where run.wake_id = wake.id) <> 1",
    )
    .pluck()
    .all()
  return {
    writes: acknowledged.length,
    lostWrites: acknowledged.filter((id) => !known.has(id)).length,
    runs: runs.length,
    wrongEnds: runs.filter((run) => !isRight(run)).length,
    neverStarted: runs.filter((run) => run.error_code === 'never_started').length,
    notServedOnce: comments.filter(({ id }) => served.get(id) !== 1).length,
    wrongWakes: wrongWakes.length,
  }
}

interface FinishedRun {
  id: string
  status: string
  reasons: string
}

interface CommentOnIssue {
  id: string
  issue_id: string
}

/** From this many reasons on, a wake stores only the first comment and the latest ones of an issue. */
const ALL_REASONS = 50

/** Returns the comments in the prompt of a run, and the later comments that its wake no longer stored. */
function servedBy(run: FinishedRun, comments: readonly CommentOnIssue[]): Set<string> {
  const reasons = JSON.parse(run.reasons) as { commentId: string | null; issueId: string }[]
  const received = reasons.flatMap(({ commentId }) => commentId ?? [])
  if (reasons.length < ALL_REASONS) return new Set(received)
  const [first, next] = received as [string, string]
  // Ids are in the order of their creation.
  const between = comments.filter(({ id, issue_id }) => id > first && id < next && issue_id === reasons[0]!.issueId)
  return new Set([...received, ...between.map(({ id }) => id)])
}

export const isGuaranteeKept = (report: KillReport): boolean =>
  report.lostWrites + report.wrongEnds + report.notServedOnce + report.wrongWakes === 0 &&
  report.heldByDead + report.ownerless === 0

if (import.meta.main) {
  const [cycles = 1_000] = process.argv.slice(2).map(Number)
  const began = performance.now()
  const report = await killRepeatedly(cycles, (line) => process.stderr.write(`${line}\n`))
  for (const [what, count] of Object.entries(report)) process.stdout.write(`${what.padEnd(16)}${count}\n`)
  process.stdout.write(`${'seconds'.padEnd(16)}${((performance.now() - began) / 1_000).toFixed(0)}\n`)
  process.exitCode = isGuaranteeKept(report) ? 0 : 1
}
