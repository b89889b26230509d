import type { CostStatus } from '../../adapter/adapter.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { insertCostEvent, setCostStatusOfRun, sumCostOfRun } from '../cost/queries.ts'
import { enforceBudgets } from './enforce.ts'
import { warnOfBudgets } from './warn.ts'

export interface Usage {
  provider: string
  model: string
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** Micro-dollars; null if the price is unknown. */
  costMicros: number | null
  costStatus: CostStatus
}

/** The entities that a cost is attributed to. */
export interface CostAttribution {
  companyId: string
  agentId: string
  issueId: string | null
  projectId: string | null
  goalId: string | null
  runId: string | null
  billingCode?: string | null
}

/** Records a cost event, then warns about the budgets and enforces them. Returns the id of the event. */
export function recordCost(
  ctx: Context,
  attribution: CostAttribution,
  usage: Usage,
  occurredAt: string = ctx.now,
): string {
  const id = uuid()
  insertCostEvent(ctx.db, {
    id,
    company_id: attribution.companyId,
    agent_id: attribution.agentId,
    issue_id: attribution.issueId,
    project_id: attribution.projectId,
    goal_id: attribution.goalId,
    run_id: attribution.runId,
    billing_code: attribution.billingCode ?? null,
    provider: usage.provider,
    model: usage.model,
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    cost_micros: usage.costMicros ?? 0,
    cost_status: usage.costStatus,
    occurred_at: occurredAt,
    created_at: ctx.now,
  })
  warnOfBudgets(ctx, attribution, usage.costMicros ?? 0)
  enforceBudgets(ctx, attribution)
  return id
}

/**
 * Records the difference between the current total usage of one model in a run
 * and the usage that is already recorded.
 *
 * A repeated snapshot therefore counts once. A reported cost replaces an
 * estimate, by a negative difference if the estimate was too high. Usage that
 * had no price while it streamed receives the price of the later report.
 */
export function recordRunUsage(ctx: Context, attribution: CostAttribution & { runId: string }, total: Usage): void {
  const key = { runId: attribution.runId, provider: total.provider, model: total.model }
  setCostStatusOfRun(ctx.db, { ...key, status: total.costStatus })
  const recorded = sumCostOfRun(ctx.db, key)
  const difference = {
    inputTokens: total.inputTokens - recorded.input_tokens,
    cachedInputTokens: total.cachedInputTokens - recorded.cached_input_tokens,
    outputTokens: total.outputTokens - recorded.output_tokens,
    costMicros: (total.costMicros ?? 0) - recorded.cost_micros,
  }
  if (Object.values(difference).every((amount) => amount === 0)) return
  recordCost(ctx, attribution, { ...total, ...difference })
}
