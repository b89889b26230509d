import type { Caller } from '../../access/caller/caller.ts'
import type { NewAgent } from '../../organization/agent/agent.ts'
import type { PackageAgent } from '../read/package.ts'

/** An agent of a package in the shape of a hire; its manager and its skills are put in when they are there. */
export function newAgentOf(agent: PackageAgent, caller: Caller): NewAgent {
  // What an agent hires has its own budget unless something is said; of the board nothing said is no limit.
  const budget = agent.budgetMonthlyCents === 0 && caller.type === 'agent' ? undefined : agent.budgetMonthlyCents
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
    // A list rather than a mapping: a key that is called GH_TOKEN would be taken for a secret.
    metadata: agent.inputs.length > 0 ? { inputs: agent.inputs } : null,
  }
}
