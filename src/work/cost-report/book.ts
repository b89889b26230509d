import type { Selectable } from 'kysely'
import type * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import { recordCost } from '../../organization/budget/record-cost.ts'
import type { CostEvent, NewCostEvent } from '../../organization/cost/cost.ts'
import { MICROS_PER_CENT, toMicros } from '../../organization/cost/money.ts'
import { findRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import type { CostEventTable } from '../../platform/database/tables.ts'
import { forbidden, unknownReference } from '../../platform/errors.ts'
import { getReferredIssue, referredGoal, referredProject } from '../issue/references.ts'

export type CostEventRow = Selectable<CostEventTable>

/** Records a reported cost. The board may report for any agent, an agent for itself. */
export function bookCostEvent(ctx: Context, caller: Caller, companyId: string, want: NewCostEvent): CostEventRow {
  const agent = getReferredAgent(ctx, companyId, 'agentId', want.agentId)
  if (caller.type === 'agent' && caller.agentId !== agent.id) {
    throw forbidden('An agent may report only its own costs. Other agents or the board must report theirs.')
  }
  const run = referredRun(ctx, companyId, want) ?? ownRun(ctx, caller)
  // A cost that a run reports without an issue is attributed to the run's issue.
  const issueId = want.issueId ?? run?.issue_id
  const issue = issueId ? getReferredIssue(ctx, companyId, 'issueId', issueId) : undefined
  const bearer = {
    companyId,
    agentId: agent.id,
    issueId: issue?.id ?? null,
    projectId: want.projectId ? referredProject(ctx, companyId, want.projectId) : (issue?.project_id ?? null),
    goalId: want.goalId ? referredGoal(ctx, companyId, want.goalId) : (issue?.goal_id ?? null),
    runId: run?.id ?? null,
    billingCode: want.billingCode ?? issue?.billing_code ?? null,
  }
  const { provider, model, inputTokens, cachedInputTokens, outputTokens } = want
  const costMicros = want.costCents == null ? null : toMicros(want.costCents)
  const costStatus = costMicros === null ? 'unpriced' : 'reported'
  const usage = { provider, model, inputTokens, cachedInputTokens, outputTokens, costMicros, costStatus } as const
  const occurredAt = want.occurredAt === undefined ? ctx.now : new Date(want.occurredAt).toISOString()
  const id = recordCost(ctx, bearer, usage, occurredAt)
  recordActivity(ctx, caller, {
    companyId,
    action: 'cost.reported',
    entity: { type: 'cost_event', id },
    agentId: agent.id,
    details: { provider, model, costCents: want.costCents ?? null, issueId: bearer.issueId },
  })
  return ctx.db.first(sql.selectFrom('cost_event').selectAll().where('id', '=', id))!
}

function referredRun(ctx: Context, companyId: string, want: NewCostEvent): RunRow | undefined {
  const id = want.heartbeatRunId ?? want.runId
  if (!id) return undefined
  const run = findRun(ctx.db, { id })
  if (run?.company_id !== companyId) throw unknownReference('heartbeatRunId', 'run')
  return run
}

/** Returns the run of the caller's token. */
const ownRun = (ctx: Context, caller: Caller): RunRow | undefined =>
  caller.type === 'agent' && caller.runId !== null ? findRun(ctx.db, { id: caller.runId }) : undefined

/** Converts a cost event to its public form. An unknown price is null, not zero. */
export const toCostEvent = (row: CostEventRow): v.InferOutput<typeof CostEvent> => ({
  id: row.id,
  companyId: row.company_id,
  agentId: row.agent_id,
  issueId: row.issue_id,
  projectId: row.project_id,
  goalId: row.goal_id,
  heartbeatRunId: row.run_id,
  billingCode: row.billing_code,
  provider: row.provider,
  model: row.model,
  inputTokens: row.input_tokens,
  cachedInputTokens: row.cached_input_tokens,
  outputTokens: row.output_tokens,
  costCents: row.cost_status === 'unpriced' ? null : row.cost_micros / MICROS_PER_CENT,
  costStatus: row.cost_status,
  occurredAt: row.occurred_at,
  createdAt: row.created_at,
})
