import * as v from 'valibot'
import type { CostStatus } from '../../adapter/adapter.ts'
import * as field from '../../http/fields.ts'
import { MICROS_PER_CENT } from './money.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000_000_000))

/** The body of a cost event. Cents may be fractional. Without them the price is unknown. */
export const NewCostEvent = v.strictObject({
  agentId: field.reference,
  issueId: v.optional(v.nullable(field.reference)),
  projectId: v.optional(v.nullable(field.reference)),
  goalId: v.optional(v.nullable(field.reference)),
  heartbeatRunId: v.optional(v.nullable(field.reference)),
  runId: v.optional(v.nullable(field.reference)),
  billingCode: v.optional(v.nullable(field.name)),
  provider: field.name,
  model: field.name,
  inputTokens: v.optional(count, 0),
  cachedInputTokens: v.optional(count, 0),
  outputTokens: v.optional(count, 0),
  costCents: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(100_000_000)))),
  occurredAt: v.optional(field.sentTimestamp),
})
export type NewCostEvent = v.InferOutput<typeof NewCostEvent>

const COST_STATUSES = ['reported', 'estimated', 'unpriced'] as const satisfies readonly CostStatus[]

/** A cost event as the API returns it. */
export const CostEvent = v.strictObject({
  id: field.id,
  companyId: field.id,
  agentId: v.nullable(field.id),
  issueId: v.nullable(field.id),
  projectId: v.nullable(field.id),
  goalId: v.nullable(field.id),
  heartbeatRunId: v.nullable(field.id),
  billingCode: v.nullable(v.string()),
  provider: v.string(),
  model: v.string(),
  inputTokens: field.integer,
  cachedInputTokens: field.integer,
  outputTokens: field.integer,
  costCents: v.nullable(v.number()),
  costStatus: v.picklist(COST_STATUSES),
  occurredAt: field.timestamp,
  createdAt: field.timestamp,
})

/** The sum of several cost events, as the API returns it. */
export const SUM = { costCents: v.number(), costStatus: v.picklist(['none', ...COST_STATUSES]) }

/** `none` if there are no events. */
export const toSum = (events: { cost_micros: number; cost_status: CostStatus } | undefined) => ({
  costCents: (events?.cost_micros ?? 0) / MICROS_PER_CENT,
  costStatus: events?.cost_status ?? ('none' as const),
})

/** The fields that every grouping of costs returns. */
export const Figures = {
  costCents: v.number(),
  inputTokens: field.integer,
  cachedInputTokens: field.integer,
  outputTokens: field.integer,
  eventCount: field.integer,
  /** The number of events without a known price. `costCents` does not include them. */
  unpricedEventCount: field.integer,
}

export const CostSummary = v.strictObject({
  companyId: field.id,
  from: v.string(),
  to: v.string(),
  spendCents: v.number(),
  budgetCents: field.integer,
  utilizationPercent: v.number(),
  ...Figures,
})
export const CostOfAgent = v.strictObject({
  agentId: v.nullable(field.id),
  agentName: v.nullable(v.string()),
  agentStatus: v.nullable(v.string()),
  runCount: field.integer,
  ...Figures,
})
export const CostOfProject = v.strictObject({
  projectId: v.nullable(field.id),
  projectName: v.nullable(v.string()),
  ...Figures,
})
export const CostOfIssue = v.strictObject({
  issueId: v.nullable(field.id),
  identifier: v.nullable(v.string()),
  title: v.nullable(v.string()),
  ...Figures,
})
export const CostOfModel = v.strictObject({ provider: v.string(), model: v.string(), ...Figures })
export const CostOfProvider = v.strictObject({ provider: v.string(), ...Figures })
export const CostOfDay = v.strictObject({ date: v.string(), ...Figures })
