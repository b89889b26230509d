import type { Fact, UsageTotals } from '../../adapter/adapter.ts'
import { MAX_MODELS } from '../../adapter/fact.ts'
import { recordRunUsage } from '../../organization/budget/record-cost.ts'
import { toMicros } from '../../organization/cost/money.ts'
import { findIssueScope, findRun, updateRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Persist } from './persist.ts'

/**
 * Records the facts of a live run while its output streams: sessions, retries
 * and usage. The cost of a lost run is therefore known, and a spent budget stops
 * a live run. Facts are snapshots, so they may be recorded again after a restart.
 */
export function recordFacts(ctx: Context, runId: string, facts: readonly Fact[]): void {
  const run = findRun(ctx.db, { id: runId })
  if (!run || run.finished_at !== null) return
  for (const fact of facts) {
    if (fact.kind === 'session' && fact.id !== run.session_id_after)
      updateRun(ctx.db, run.id, { session_id_after: fact.id })
    if (fact.kind === 'retrying') updateRun(ctx.db, run.id, { retrying: fact.text })
  }
  recordUsage(ctx, run, facts)
}

/** Records the usage of a run, which may have ended. Usage that is already recorded is not recorded again. */
export function recordUsage(ctx: Context, run: RunRow, facts: readonly Fact[]): void {
  const issue = run.issue_id === null ? undefined : findIssueScope(ctx.db, { id: run.issue_id })
  const attribution = {
    companyId: run.company_id,
    agentId: run.agent_id,
    issueId: run.issue_id,
    projectId: issue?.project_id ?? null,
    goalId: issue?.goal_id ?? null,
    billingCode: issue?.billing_code ?? null,
    runId: run.id,
  }
  for (const fact of facts) {
    if (fact.kind !== 'usage') continue
    const { provider, model, inputTokens, cachedInputTokens, outputTokens, costUsd, costStatus } = fact
    const costMicros = costUsd === null ? null : toMicros(costUsd * 100)
    recordRunUsage(ctx, attribution, {
      provider,
      model,
      inputTokens,
      cachedInputTokens,
      outputTokens,
      costMicros,
      costStatus,
    })
  }
}

/** Records and summarizes the facts of one run. */
export interface FactRecorder {
  /** Records the facts. Resolves when they are durable. */
  add(facts: Fact[]): Promise<void>
  summary(): FactSummary
}

/** The number of facts that one transaction records. A fact of usage takes up to a millisecond. */
export const FACTS_PER_WRITE = 20

/** Creates the recorder of one run's facts. */
export function createFactRecorder(ctx: Context, runId: string, persist: Persist): FactRecorder {
  let summary = NO_FACTS
  const models = new Set<string>()

  /** Whether a fact is not the usage of one model too many. */
  const isWithinLimit = (fact: Fact) => {
    if (fact.kind !== 'usage') return true
    const key = JSON.stringify([fact.provider, fact.model])
    if (models.size < MAX_MODELS) models.add(key)
    return models.has(key)
  }

  return {
    async add(facts) {
      summary = addFacts(summary, facts)
      const stored = facts.filter(isWithinLimit)
      for (let i = 0; i < stored.length; i += FACTS_PER_WRITE) {
        const some = stored.slice(i, i + FACTS_PER_WRITE)
        await persist(() => recordFacts(ctx, runId, some))
      }
    },
    summary: () => summary,
  }
}

/** The summary of a run's facts: the latest fact of each kind. */
export interface FactSummary {
  sessionId: string | null
  totals: Record<string, UsageTotals> | null
  text: string | null
  isDeadSession: boolean
  /** Null if no request was refused. `until` is null if the provider named no time. */
  rateLimit: { until: string | null } | null
  outcome: { ok: boolean; code: string | null; message: string | null; exitCode?: number | undefined } | null
  refusedTools: number
}

export const NO_FACTS: FactSummary = {
  sessionId: null,
  totals: null,
  text: null,
  isDeadSession: false,
  rateLimit: null,
  outcome: null,
  refusedTools: 0,
}

/** Returns the summary with further facts added. */
export const addFacts = (summary: FactSummary, facts: readonly Fact[]): FactSummary => facts.reduce(addFact, summary)

function addFact(summary: FactSummary, fact: Fact): FactSummary {
  switch (fact.kind) {
    case 'session':
      return { ...summary, sessionId: fact.id }
    case 'totals':
      return { ...summary, totals: fact.totals }
    case 'text':
      return { ...summary, text: fact.text }
    case 'dead_session':
      return { ...summary, isDeadSession: true }
    case 'rate_limited':
      return { ...summary, rateLimit: { until: fact.until } }
    case 'outcome':
      return { ...summary, outcome: { ok: fact.ok, code: fact.code, message: fact.message, exitCode: fact.exitCode } }
    case 'usage':
    case 'session_file':
    case 'session_store':
    case 'retrying':
    case 'give_up':
      return summary
    case 'refused_tools':
      return { ...summary, refusedTools: fact.count }
  }
}
