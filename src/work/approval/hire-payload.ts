import type { Json } from '../../access/redaction/redact.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { shownConfigOf } from '../../organization/agent/configuration.ts'
import { toCents } from '../../organization/cost/money.ts'

/** What the board decides on: the whole hire without its secrets, and apart from it what would run on this machine. */
export function hirePayload(agent: AgentRow): Json {
  const config = shownConfigOf(agent)
  return {
    agentId: agent.id,
    ...config,
    desiredSkills: JSON.parse(agent.desired_skills),
    budgetMonthlyCents: toCents(agent.budget_micros),
    runs: whatRuns(config),
  }
}

/** The keys of `adapterConfig` that say which program runs, or where a wake is posted to. */
const RUNNING_KEYS = ['command', 'args', 'extraArgs', 'env', 'url', 'headers']

/** The adapters that run whatever their configuration names. */
const OPEN_ADAPTERS = ['process', 'http']

/** The part of a configuration that names what runs; empty when the adapter's own defaults do. */
export function whatRuns(config: { adapterType: string; adapterConfig: Json }): Json {
  const named = Object.entries(config.adapterConfig).filter(
    ([key, value]) => RUNNING_KEYS.includes(key) && !isEmpty(value),
  )
  const adapter = OPEN_ADAPTERS.includes(config.adapterType) ? { adapterType: config.adapterType } : {}
  return { ...adapter, ...Object.fromEntries(named) }
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0
