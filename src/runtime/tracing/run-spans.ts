import type { ActivityEvent } from '../../access/activity/live-events.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { toCents } from '../../organization/cost/money.ts'
import { costsOfRuns, findRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { findWake } from '../../organization/wake/queries.ts'
import { parseReasons, type WakeReason } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { spanOfId, type Tracer } from '../../platform/tracer.ts'

/**
 * Records the wake and the execution of each run as the spans of one trace. The
 * id of the trace is that of the run. The span of the wake is its root. Requests
 * of the run are children of its execution.
 *
 * @returns a function that ends it
 */
export function traceRuns(ctx: Context, tracer: Tracer): () => void {
  return ctx.events.subscribe((event) => {
    const record =
      event.type === 'run.started' ? recordWake : event.type === 'run.finished' ? recordExecution : undefined
    const run = record && findRun(ctx.db, { id: (event.data as ActivityEvent).entityId })
    if (run) record?.(ctx, tracer, run)
  })
}

/** The root: the time from the first reason of the wake until its run was claimed. */
function recordWake(ctx: Context, tracer: Tracer, run: RunRow): void {
  const wake = run.wake_id === null ? undefined : findWake(ctx.db, { id: run.wake_id })
  const reasons = parseReasons(run)
  tracer.record({
    ...wakeSpan(run),
    name: `wake ${run.source}`,
    kind: 'internal',
    parent: null,
    links: causes(run, reasons).map(spanOfId),
    startedAt: Date.parse(wake?.created_at ?? run.created_at),
    endedAt: Date.parse(run.created_at),
    attributes: { ...idsOf(run), 'service.wake.sources': [...new Set(reasons.map(({ source }) => source))] },
    error: null,
  })
}

function recordExecution(ctx: Context, tracer: Tracer, run: RunRow): void {
  const { name = 'agent' } = findAgent(ctx.db, { id: run.agent_id }) ?? {}
  const cost = costsOfRuns(ctx.db, [run.id]).get(run.id)
  const isFailed = run.status !== 'succeeded' && run.status !== 'cancelled'
  tracer.record({
    ...spanOfId(run.id),
    name: `invoke_agent ${name}`,
    kind: 'internal',
    parent: wakeSpan(run),
    links: [],
    startedAt: Date.parse(run.created_at),
    endedAt: Date.parse(run.finished_at ?? run.created_at),
    attributes: {
      ...idsOf(run),
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': run.agent_id,
      'gen_ai.agent.name': name,
      'gen_ai.usage.input_tokens': cost?.input_tokens ?? null,
      'gen_ai.usage.output_tokens': cost?.output_tokens ?? null,
      'service.run.cost_cents': cost ? toCents(cost.cost_micros) : null,
      'service.run.adapter': run.adapter_type,
      'service.run.placement': run.placement,
      'service.run.status': run.status,
      'service.run.exit_code': run.exit_code,
      'error.type': isFailed ? (run.error_code ?? run.status) : null,
    },
    error: isFailed ? (run.error_code ?? run.status) : null,
  })
}

/** The wake is in the trace of its run. Its span id is derived from the id of the wake, or from the first half of the run's id if retention deleted the wake. */
const wakeSpan = (run: RunRow) => ({
  traceId: spanOfId(run.id).traceId,
  spanId: run.wake_id === null ? spanOfId(run.id).traceId.slice(0, 16) : spanOfId(run.wake_id).spanId,
})

const idsOf = (run: RunRow) => ({
  'service.company.id': run.company_id,
  'service.agent.id': run.agent_id,
  'service.run.id': run.id,
  'service.issue.id': run.issue_id,
})

/** The runs that caused the wake: those that acted, and the one that is retried. */
const causes = (run: RunRow, reasons: readonly WakeReason[]): string[] => [
  ...new Set([...reasons.map(({ runId }) => runId), run.retry_of_run_id].filter((id) => id !== null)),
]
