import type { Selectable } from 'kysely'
import * as v from 'valibot'
import type { CostStatus } from '../../adapter/adapter.ts'
import * as field from '../../http/fields.ts'
import type { RunTable } from '../../platform/database/tables.ts'
import { SUM, toSum } from '../cost/cost.ts'
import { parseReasons, Reason, WAKE_SOURCES } from '../wake/wake.ts'

export const RUN_STATUSES = ['starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export type RunRow = Selectable<RunTable>

/** The changes of a run in the git worktree of its issue. */
export const RunChanges = v.strictObject({
  branch: v.nullable(v.string()),
  headCommit: v.string(),
  commits: v.pipe(
    v.array(v.strictObject({ hash: v.string(), subject: v.string(), author: v.string(), committedAt: v.string() })),
    v.description('Newest first, at most 20.'),
  ),
  filesChanged: field.integer,
  insertions: field.integer,
  deletions: field.integer,
  hasUncommitted: v.pipe(v.boolean(), v.description('Whether the worktree has uncommitted changes.')),
})
export type RunChanges = v.InferOutput<typeof RunChanges>

/** A run as the API shows it. */
export const Run = v.strictObject({
  id: field.id,
  companyId: field.id,
  agentId: field.id,
  status: v.picklist(RUN_STATUSES),
  invocationSource: v.picklist(WAKE_SOURCES),
  triggerDetail: v.nullable(v.string()),
  wakeReason: v.picklist(WAKE_SOURCES),
  reasons: v.array(Reason),
  issueId: v.nullable(field.id),
  adapterType: v.string(),
  retryOfRunId: v.nullable(field.id),
  stopReason: v.nullable(v.string()),
  startedAt: v.nullable(field.timestamp),
  finishedAt: v.nullable(field.timestamp),
  exitCode: v.nullable(field.integer),
  signal: v.nullable(v.string()),
  error: v.nullable(v.string()),
  errorCode: v.nullable(v.string()),
  summary: v.nullable(v.string()),
  retrying: v.pipe(
    v.nullable(v.string()),
    v.description('The retry that the program of a live run reports, such as "retrying 4 of 10: 529 overloaded".'),
  ),
  outcome: v.pipe(
    v.nullable(v.picklist(['changed', 'unchanged'])),
    v.description('Whether the run changed anything, according to the activity. Null while that is unknown.'),
  ),
  outcomeDetail: v.pipe(
    v.nullable(v.string()),
    v.description('Notes about a successful run, such as "changed nothing; 1 tool call was refused".'),
  ),
  idle: v.pipe(v.nullable(v.boolean()), v.description('Whether the run changed nothing. Null while that is unknown.')),
  changes: v.pipe(
    v.nullable(RunChanges),
    v.description(
      'The changes of the run in the worktree of its issue. `GET /api/issues/:issueId/changes` returns the patch.',
    ),
  ),
  usage: v.strictObject({ inputTokens: field.integer, cachedInputTokens: field.integer, outputTokens: field.integer }),
  ...SUM,
  sessionIdBefore: v.nullable(v.string()),
  sessionIdAfter: v.nullable(v.string()),
  processPid: v.nullable(field.integer),
  placement: v.pipe(v.nullable(v.string()), v.description('Where it executes; null for the machine of the server.')),
  node: v.pipe(v.nullable(v.string()), v.description('The machine of its placement that it is on, if known.')),
  waitingBecause: v.pipe(
    v.nullable(v.string()),
    v.description('Why it waits in its placement, such as "2 ahead of it in the queue of partition main".'),
  ),
  logDeletedAt: v.pipe(
    v.nullable(field.timestamp),
    v.description('When its log was deleted, by the retention settings of the server.'),
  ),
  createdAt: field.timestamp,
})
export type Run = v.InferOutput<typeof Run>

/** The sum of a run's cost events. */
export interface RunCost {
  input_tokens: number
  cached_input_tokens: number
  output_tokens: number
  cost_micros: number
  cost_status: CostStatus
  /** The number of events without a known price. */
  unpriced: number
}

export function toRun(row: RunRow, cost: RunCost | undefined): Run {
  const reasons = parseReasons(row)
  return {
    id: row.id,
    companyId: row.company_id,
    agentId: row.agent_id,
    status: row.status,
    invocationSource: row.source,
    triggerDetail: reasons.length > 1 ? reasons.map((reason) => reason.source).join(', ') : null,
    wakeReason: row.source,
    reasons,
    issueId: row.issue_id,
    adapterType: row.adapter_type,
    retryOfRunId: row.retry_of_run_id,
    stopReason: row.stop_reason,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    exitCode: row.exit_code,
    signal: row.signal,
    error: row.error,
    errorCode: row.error_code,
    summary: row.summary,
    retrying: row.retrying,
    outcome: row.idle === null ? null : row.idle === 1 ? 'unchanged' : 'changed',
    outcomeDetail: outcomeDetail(row),
    idle: row.idle === null ? null : row.idle === 1,
    changes: row.changes === null ? null : JSON.parse(row.changes),
    usage: {
      inputTokens: cost?.input_tokens ?? 0,
      cachedInputTokens: cost?.cached_input_tokens ?? 0,
      outputTokens: cost?.output_tokens ?? 0,
    },
    ...toSum(cost),
    sessionIdBefore: row.session_id_before,
    sessionIdAfter: row.session_id_after,
    processPid: row.pid,
    placement: row.placement,
    node: row.job_node,
    waitingBecause: row.finished_at === null ? row.job_waiting : null,
    logDeletedAt: row.log_deleted_at,
    createdAt: row.created_at,
  }
}

/**
 * Returns details that the status does not include: whether the run made no
 * change, and the number of refused tool calls.
 */
export function outcomeDetail(row: Pick<RunRow, 'status' | 'idle' | 'refused_tools'>): string | null {
  const refused = row.refused_tools === 1 ? '1 tool call was refused' : `${row.refused_tools} tool calls were refused`
  const parts = [
    ...(row.status === 'succeeded' && row.idle === 1 ? ['changed nothing'] : []),
    ...(row.refused_tools > 0 ? [refused] : []),
  ]
  return parts.join('; ') || null
}
