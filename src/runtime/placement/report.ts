import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import type { AgentCaller } from '../../access/caller/caller.ts'
import type { Fact } from '../../adapter/adapter.ts'
import { MAX_MODELS } from '../../adapter/fact.ts'
import * as field from '../../http/fields.ts'
import { findRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { FACTS_PER_WRITE, recordUsage } from '../executor/facts.ts'
import { deliverFacts } from '../process/follow.ts'
import {
  type ExitRecord,
  factsFile,
  logFolder,
  readBudget,
  readExit,
  readStop,
  runFolder,
  writeExit,
} from '../process/run-files.ts'
import { REPORTED_FILE, type ReportReply } from '../remote/wire.ts'
import { isClaimedBy } from './claim-file.ts'

const Exit = v.strictObject({
  exitCode: v.nullable(field.integer),
  signal: v.nullable(v.pipe(v.string(), v.maxLength(20))),
  reason: v.picklist([
    'exited',
    'after_result',
    'timed_out',
    'silent',
    'over_budget',
    'stopped',
    'spawn_failed',
    'never_started',
    'lost',
  ]),
  error: v.optional(
    v.strictObject({ code: v.pipe(v.string(), v.maxLength(40)), message: v.pipe(v.string(), v.maxLength(2_000)) }),
  ),
  lastError: v.optional(
    v.pipe(v.nullable(v.pipe(v.string(), v.maxLength(1_000))), v.description('The last line of the standard error.')),
  ),
  startedAt: v.nullable(field.sentTimestamp),
  finishedAt: field.sentTimestamp,
  bytes: v.strictObject({
    stdout: v.pipe(field.integer, v.description('The size of the standard output, in bytes.')),
    stderr: v.pipe(field.integer, v.description('The size of the standard error, in bytes.')),
  }),
  strays: v.pipe(field.integer, v.description('The number of other processes that were ended.')),
  left: v.pipe(field.integer, v.description('The number of processes that could not be ended.')),
})

export const ReportBody = v.strictObject({
  instance: v.pipe(
    field.id,
    v.description('The id of the process that claimed the run.'),
    v.examples(['0199e0a4-5c1e-4c6f-9d5e-0b7c4f5d2a10']),
  ),
  clock: v.pipe(field.sentTimestamp, v.description('The current time on the machine.')),
  parts: v.pipe(
    v.array(
      v.strictObject({
        name: v.pipe(v.string(), v.regex(REPORTED_FILE, 'must be a file of a run'), v.examples(['log/head'])),
        offset: v.pipe(v.number(), v.integer(), v.minValue(0), v.description('The offset of the bytes in the file.')),
        data: v.pipe(
          v.string(),
          v.base64(),
          v.description('The bytes at the offset, in base64.'),
          v.examples(['ZG9uZQo=']),
        ),
      }),
    ),
    v.maxLength(20),
    v.description('Parts of the files of the run.'),
  ),
  exit: v.pipe(v.nullable(Exit), v.description('The exit record of the command. Send it last.')),
})
export type ReportBody = v.InferOutput<typeof ReportBody>

export const ReportResponse = v.strictObject({
  sizes: v.pipe(v.record(v.string(), field.integer), v.description('The stored size of each file, in bytes.')),
  stop: v.pipe(
    v.nullable(v.strictObject({ graceSec: field.integer })),
    v.description('The stop request with its grace period, or null.'),
  ),
  budget: v.pipe(
    v.nullable(
      v.strictObject({
        budgetMicros: v.pipe(
          v.nullable(field.integer),
          v.description('The budget in micro-dollars; null means no limit.'),
        ),
      }),
    ),
    v.description('The budget of the run if it changed after the start, or null.'),
  ),
})

/**
 * Requires that the caller is the run itself.
 *
 * @throws AppError 403 for any other caller, also for the agent of the run with a key
 */
export function requireOwnRun(caller: AgentCaller, runId: string): void {
  if (caller.runId !== runId) throw forbidden('This endpoint requires the token of the run.')
}

/**
 * Stores the report of a run on another machine in the folder of the run. The
 * executor reads these files like those of a local run. A part is stored only
 * if it continues its file, so a report that arrives twice is stored once.
 *
 * A machine that lost its connection may report after the run ended as lost.
 * Its program must stop, but the money that it spent is recorded.
 */
export async function receiveReport(
  ctx: Context,
  runId: string,
  { instance, clock, parts, exit }: ReportBody,
): Promise<ReportReply> {
  const run = findRun(ctx.db, { id: runId })
  if (!run?.placement) throw notFound('run', runId)
  const runDir = runFolder(ctx.config, runId)
  if (!isClaimedBy(runDir, instance)) {
    throw new AppError('conflict', 'Another process has claimed this run. Exit this process.')
  }
  const sizes: Record<string, number> = {}
  for (const { name, offset, data } of parts) {
    sizes[name] = appendAt(runDir, name, offset, Buffer.from(data, 'base64'), ctx.config.logLimit)
  }
  if (parts.some(({ name }) => name.startsWith('log/tail-'))) dropOldPieces(runDir)
  // The record of the server itself is there before it finishes a lost run.
  const hasEnded = run.finished_at !== null || readExit(runDir) !== undefined
  if (hasEnded) {
    // Each call reads the whole file.
    if (parts.some(({ name }) => path.join(runDir, name) === factsFile(runDir))) await recordLateUsage(ctx, runId)
    return { sizes, stop: { graceSec: 0 }, budget: null }
  }
  if (exit) writeExit(runDir, toServerClock(exit as ExitRecord, Date.parse(ctx.now) - Date.parse(clock)))
  ctx.signals.runReported(runId)
  return { sizes, stop: readStop(runDir) ?? null, budget: readBudget(runDir) ?? null }
}

/** Records the usage in the facts of a run that has ended. The latest snapshot of each model has the total. */
async function recordLateUsage(ctx: Context, runId: string): Promise<void> {
  const latest = new Map<string, Fact>()
  const note = async (facts: Fact[]) => {
    for (const fact of facts) {
      if (fact.kind !== 'usage') continue
      const key = JSON.stringify([fact.provider, fact.model])
      if (latest.size < MAX_MODELS || latest.has(key)) latest.set(key, fact)
    }
    await nextTurn() // the file may be large
  }
  await deliverFacts(runFolder(ctx.config, runId), 0, note, () => false)
  const facts = [...latest.values()]
  for (let i = 0; i < facts.length; i += FACTS_PER_WRITE) {
    const some = facts.slice(i, i + FACTS_PER_WRITE)
    await ctx.write(() => recordUsage(ctx, findRun(ctx.db, { id: runId })!, some))
  }
}

/** The maximum size of a file of facts, in bytes. A shim slows down long before this limit. */
const FACTS_LIMIT = 256 * 1024 * 1024

/** Appends bytes to a file if its size is the offset. Returns the size of the file. */
function appendAt(runDir: string, name: string, offset: number, bytes: Buffer, logLimit: number): number {
  const file = path.join(runDir, name)
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const descriptor = openSync(file, 'a', 0o600)
  try {
    const { size } = fstatSync(descriptor)
    const limit = name.startsWith('log/') ? logLimit : FACTS_LIMIT
    if (offset > size || offset + bytes.length <= size) return size
    if (size + bytes.length > limit) throw new AppError('body_too_large', `${name} is larger than ${limit} bytes.`)
    const fresh = bytes.subarray(size - offset)
    try {
      const written = writeSync(descriptor, fresh)
      return size + written
    } catch (error) {
      ftruncateSync(descriptor, size)
      throw (error as NodeJS.ErrnoException).code === 'ENOSPC'
        ? new AppError('disk_full', 'The disk of the server is full.')
        : error
    }
  } finally {
    closeSync(descriptor)
  }
}

/** The number of log pieces after the head that are kept. The shim has the same limit. */
const KEPT_PIECES = 4

function dropOldPieces(runDir: string): void {
  const folder = logFolder(runDir)
  const startOf = (name: string) => Number(name.slice('tail-'.length))
  const tails = readdirSync(folder).filter((name) => name.startsWith('tail-'))
  tails.sort((a, b) => startOf(a) - startOf(b))
  for (const name of tails.slice(0, -KEPT_PIECES)) unlinkSync(path.join(folder, name))
}

/** Converts the times of an exit record to the server's clock. */
function toServerClock(exit: ExitRecord, skewMs: number): ExitRecord {
  const own = (at: string) => new Date(Date.parse(at) + skewMs).toISOString()
  return { ...exit, startedAt: exit.startedAt && own(exit.startedAt), finishedAt: own(exit.finishedAt) }
}
