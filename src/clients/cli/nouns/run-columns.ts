import type { ItemOf } from '../../client/types.ts'
import { placeOf } from '../../run-place.ts'
import { NAMED } from '../command/find.ts'
import { ago, cost, duration, shortId, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import type { Columns } from '../command/verb.ts'

type Run = ItemOf<'GET /api/companies/:companyId/runs'>

/** The columns of runs on several issues. */
export async function runColumnsWithIssue(scope: Scope): Promise<Columns<Run>> {
  const [{ Id, Agent, ...others }, issues] = await Promise.all([
    runColumns(scope),
    NAMED.issue(scope.client, (await scope.inCompany()).companyId),
  ])
  const identifiers = new Map(issues.map(({ id, names }) => [id, names[0]]))
  return {
    Id: Id!,
    Agent: Agent!,
    Issue: ({ issueId }) => issueId && (identifiers.get(issueId) ?? shortId(issueId)),
    ...others,
  }
}

export async function runColumns(scope: Scope): Promise<Columns<Run>> {
  const nameOf = await scope.agentNames()
  return {
    Id: ({ id }) => shortId(id),
    Agent: ({ agentId }) => nameOf(agentId),
    Status: ({ status }) => words(status),
    Reason: ({ wakeReason }) => words(wakeReason),
    Age: ({ createdAt }) => ago(createdAt),
    Lasted: lastedOf,
    Cost: costOf,
    Note: (run) => run.error ?? run.retrying ?? run.outcomeDetail ?? placeOf(run),
  }
}

export const lastedOf = ({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): string =>
  startedAt === null
    ? ''
    : duration((finishedAt === null ? Date.now() : Date.parse(finishedAt)) - Date.parse(startedAt))

export const costOf = (run: Pick<Run, 'costStatus' | 'costCents'>): string =>
  run.costStatus === 'none' ? '' : cost(run.costCents, run.costStatus === 'unpriced')
