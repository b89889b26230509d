import * as v from 'valibot'
import { SHOWN_STATUSES, type ShownStatus } from './lifecycle.ts'
import type { OrgMember } from './queries.ts'

export interface OrgNode {
  id: string
  name: string
  role: string
  title: string | null
  status: ShownStatus
  reports: OrgNode[]
}

export const OrgNode: v.GenericSchema<OrgNode> = v.strictObject({
  id: v.string(),
  name: v.string(),
  role: v.string(),
  title: v.nullable(v.string()),
  status: v.picklist(SHOWN_STATUSES),
  reports: v.array(v.lazy(() => OrgNode)),
})

/**
 * Returns the reporting tree, oldest first on each level. Each agent appears
 * exactly once; it is at the top if its manager is not among the given agents.
 */
export function toOrg(agents: readonly OrgMember[]): OrgNode[] {
  const reports = Map.groupBy(agents, (agent) => agent.reports_to)
  const known = new Set(agents.map((agent) => agent.id))
  const placed = new Set<string>()

  const place = (agent: OrgMember): OrgNode[] => {
    if (placed.has(agent.id)) return []
    placed.add(agent.id)
    const { id, name, role, title, status } = agent
    return [{ id, name, role, title, status, reports: (reports.get(id) ?? []).flatMap(place) }]
  }
  const tops = agents.filter((agent) => agent.reports_to === null || !known.has(agent.reports_to))
  // The remaining agents report in a cycle, which the data should never contain. The oldest of a cycle is put at the top.
  return [...tops.flatMap(place), ...agents.flatMap(place)]
}
