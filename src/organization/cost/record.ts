import { v7 as uuid } from 'uuid'
import type { CostStatus } from '../../adapter/adapter.ts'
import type { Context } from '../../platform/context.ts'
import { enforceBudgets, warnOfBudgets } from './budget.ts'
import { insertCostEvent, setCostStatusOfRun, sumCostOfRun } from './queries.ts'

export interface Usage {
  provider: string
  model: string
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** Micro-dollars; null when nobody knows the price. */
  costMicros: number | null
  costStatus: CostStatus
}

/** What a cost is booked on. */
export interface CostAttribution {
  companyId: string
  agentId: string
  issueId: string | null
  projectId: string | null
  goalId: string | null
  runId: string | null
  billingCode?: string | null
}

/** Books a cost and stops what has spent its budget with it. */
export function recordCost(ctx: Context, bearer: CostAttribution, usage: Usage, occurredAt = ctx.now): string {
  const id = uuid()
  insertCostEvent(ctx.db, {
    id,
    company_id: bearer.companyId,
    agent_id: bearer.agentId,
    issue_id: bearer.issueId,
    project_id: bearer.projectId,
    goal_id: bearer.goalId,
    run_id: bearer.runId,
    billing_code: bearer.billingCode ?? null,
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
  warnOfBudgets(ctx, bearer, usage.costMicros ?? 0)
  enforceBudgets(ctx, bearer)
  return id
}

/**
 * Brings a run's books of one model to what the run says it used so far: books
 * the difference to what stands there. So the same snapshot twice is the same
 * as once, and a report replaces an estimate (by a negative difference, where
 * the estimate was high), and what had no price while it streamed has the one
 * that the report gives it.
 */
export function recordRunUsage(ctx: Context, bearer: CostAttribution & { runId: string }, total: Usage): void {
  const books = { runId: bearer.runId, provider: total.provider, model: total.model }
  setCostStatusOfRun(ctx.db, { ...books, status: total.costStatus })
  const booked = sumCostOfRun(ctx.db, books)
  const difference: Usage = {
    ...total,
    inputTokens: total.inputTokens - booked.input_tokens,
    cachedInputTokens: total.cachedInputTokens - booked.cached_input_tokens,
    outputTokens: total.outputTokens - booked.output_tokens,
    costMicros: (total.costMicros ?? 0) - booked.cost_micros,
  }
  const { inputTokens, cachedInputTokens, outputTokens, costMicros } = difference
  if (inputTokens === 0 && cachedInputTokens === 0 && outputTokens === 0 && costMicros === 0) return
  recordCost(ctx, bearer, difference)
}
