import { countRunsByAgent, listNames } from '../../organization/cost/queries.ts'
import { countTotals, listTotals, type Total, type TotalKind, type TotalsOf } from '../../organization/cost/totals.ts'
import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'

/** What costs are grouped by. */
export type GroupKind = Exclude<TotalKind, 'company'>

interface Wanted {
  of: TotalsOf & { kind: GroupKind }
  page: Parameters<typeof listTotals>[2]
  /** Whether the groups of all pages are counted. */
  isCounted: boolean
}

interface Groups {
  /** One more than the limit of the page if there are more. */
  groups: { name: object; total: Total }[]
  total: number | undefined
}

/**
 * Reads a page of a company's costs by group, the most expensive first. It runs
 * in the reader: there is a total for each group and day, and all are added
 * before the most expensive groups are known.
 */
export const costGroupsJob: ReadJob<Wanted, Groups> = {
  name: 'cost-groups',
  run(db, { of, page, isCounted }) {
    const totals = listTotals(db, of, page)
    const keys = totals.map((total) => total.key)
    const name = NAMES[of.kind](db, keys, of)
    return {
      groups: totals.map((total) => ({ name: name(total.key), total })),
      total: isCounted ? countTotals(db, of) : undefined,
    }
  },
}

/** Return the fields of groups besides their figures, by key. */
const NAMES: Record<GroupKind, (db: Db, keys: string[], of: TotalsOf) => (key: string) => object> = {
  agent(db, keys, of) {
    const names = listNames(db, 'agent', keys)
    const runs = countRunsByAgent(db, { ...of, agentIds: keys })
    return (key) => ({
      agentId: key || null,
      agentName: names.get(key)?.name ?? null,
      agentStatus: names.get(key)?.status ?? null,
      runCount: runs.get(key) ?? 0,
    })
  },
  project(db, keys) {
    const names = listNames(db, 'project', keys)
    return (key) => ({ projectId: key || null, projectName: names.get(key)?.name ?? null })
  },
  issue(db, keys) {
    const names = listNames(db, 'issue', keys)
    return (key) => ({
      issueId: key || null,
      identifier: names.get(key)?.identifier ?? null,
      title: names.get(key)?.name ?? null,
    })
  },
  // The name of a provider contains no slash; the name of a model may.
  model: () => (key) => ({ provider: key.split('/')[0], model: key.slice(key.indexOf('/') + 1) }),
  provider: () => (key) => ({ provider: key }),
}
