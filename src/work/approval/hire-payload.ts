import { type Json, redact, redactLiteralSecrets } from '../../access/redaction/redact.ts'
import { open, placeOf, seal } from '../../access/secret/seal.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { isOpenAdapter } from '../../organization/agent/approved-config.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import { toCents } from '../../organization/cost/money.ts'
import type { Context } from '../../platform/context.ts'

/**
 * Returns the payload of a hire as the approval stores it: the whole hire and,
 * separately, what would run on this machine. The values that a read redacts
 * are encrypted.
 */
export function hirePayload(ctx: Context, agent: AgentRow): Json {
  const config = configOf(ctx, agent)
  const payload = {
    agentId: agent.id,
    ...config,
    desiredSkills: JSON.parse(agent.desired_skills),
    budgetMonthlyCents: toCents(agent.budget_micros),
    runs: whatRuns(config),
  }
  return seal(ctx.vault, placeOf('agent', agent), payload)
}

/**
 * Returns the payload of a hire for the approver. It contains all values that
 * the runs will use, including those of `env` and `headers`. Only literal
 * secrets are redacted; a hire by an agent contains none.
 */
export function reviewPayload(ctx: Context, hire: { agent_id: string; company_id: string }, stored: Json): Json {
  const payload = open(ctx.vault, placeOf('agent', { id: hire.agent_id, company_id: hire.company_id }), stored)
  const { adapterConfig, runs } = payload
  return { ...redact(payload), ...reviewed({ adapterConfig, runs }) }
}

const reviewed = (parts: Json): Json =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([key, part]) =>
      typeof part === 'object' && part !== null ? [[key, redactLiteralSecrets(part as Json)]] : [],
    ),
  )

/** The keys of `adapterConfig` that decide which program runs, or where a wake is posted to. */
const RUNNING_KEYS = ['command', 'args', 'extraArgs', 'env', 'url', 'headers', 'mcpServers']

/** Returns the part of a configuration that decides what runs. Empty if the adapter's defaults do. */
export function whatRuns(config: { adapterType: string; adapterConfig: Json }): Json {
  const named = Object.entries(config.adapterConfig).filter(
    ([key, value]) => RUNNING_KEYS.includes(key) && !isEmpty(value),
  )
  const adapter = isOpenAdapter(config.adapterType) ? { adapterType: config.adapterType } : {}
  return { ...adapter, ...Object.fromEntries(named) }
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0
