import type { Caller } from '../../access/caller/caller.ts'
import type { NewAgent } from '../../organization/agent/agent.ts'
import type { PackageAgent } from '../read/package.ts'

/** Converts an agent of a package to a hire, without its manager and its skills, which need ids. */
export function newAgentOf(agent: PackageAgent, caller: Caller): NewAgent {
  // Without a budget, an agent's hire gets the budget of that agent, and the board's hire has no limit.
  const budget = agent.budgetMonthlyCents === 0 && caller.type === 'agent' ? undefined : agent.budgetMonthlyCents
  const hasMetadata = Object.keys(agent.metadata).length > 0
  return {
    name: agent.name,
    role: agent.role,
    title: agent.title,
    icon: agent.icon,
    reportsTo: null,
    capabilities: agent.description,
    adapterType: agent.adapterType,
    adapterConfig: agent.adapterConfig,
    runtimeConfig: Object.keys(agent.heartbeat).length > 0 ? { heartbeat: agent.heartbeat } : {},
    ...(budget !== undefined && { budgetMonthlyCents: budget }),
    // A list, not a mapping: redaction would treat a key such as GH_TOKEN as a secret.
    metadata:
      agent.inputs.length > 0 || hasMetadata
        ? { ...agent.metadata, ...(agent.inputs.length > 0 && { inputs: agent.inputs }) }
        : null,
  }
}
