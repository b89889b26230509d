import { READY, type ShownStatus } from '../../organization/agent/lifecycle.ts'
import type { Db } from '../../platform/database/db.ts'
import { literals, prepared, raw, sql } from '../../platform/database/sql.ts'

const byAgentStatus = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('agent')
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .where('company_id', '=', of.companyId)
    .groupBy('status'),
)

const runningByStatus = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('run')
    .innerJoin('agent', 'agent.id', 'run.agent_id')
    .select((eb) => ['agent.status', eb.fn.count<number>('agent.id').distinct().as('n')])
    .where('run.finished_at', 'is', null)
    .where('run.company_id', '=', of.companyId)
    .where('agent.status', 'in', literals(READY))
    .groupBy('agent.status'),
)

/** Counts a company's agents by the status that the API returns. */
export function countAgentsByStatus(db: Db, of: { companyId: string }): { status: ShownStatus; n: number }[] {
  const running = db.all(runningByStatus(of))
  const stored = db.all(byAgentStatus(of)).map(({ status, n }) => ({
    status,
    n: n - (running.find((row) => row.status === status)?.n ?? 0),
  }))
  return [...stored, { status: 'running', n: running.reduce((sum, { n }) => sum + n, 0) }]
}

const byIssueStatus = prepared((of: { companyId: string }) =>
  sql.selectFrom('issue_count').select(['status', 'n']).where('company_id', '=', of.companyId),
)

/** Counts a company's issues by status. */
export const countIssuesByStatus = (db: Db, of: { companyId: string }) => db.all(byIssueStatus(of))

const pending = prepared((of: { companyId: string }) =>
  sql
    .selectFrom('approval')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('company_id', '=', of.companyId)
    .where('status', '=', 'pending'),
)

export const countPendingApprovals = (db: Db, of: { companyId: string }): number => db.first(pending(of))!.n

/** Selects the issues in progress that are unchanged since a time and have no live run. */
const staleIssues = (of: { companyId: string; before: string; limit: number }) =>
  sql
    .selectFrom('issue')
    .where('issue.company_id', '=', of.companyId)
    .where('issue.status', '=', raw.lit('in_progress'))
    .where('issue.updated_at', '<', of.before)
    .where('issue.id', 'not in', (eb) =>
      eb
        .selectFrom('run')
        .select('run.issue_id')
        .where('run.company_id', '=', of.companyId)
        .where('run.finished_at', 'is', null)
        .where('run.issue_id', 'is not', null)
        .$castTo<{ issue_id: string }>(),
    )
    .limit(of.limit)

const staleList = prepared((of: { companyId: string; before: string; limit: number }) =>
  staleIssues(of)
    .leftJoin('agent', 'agent.id', 'issue.assignee_agent_id')
    .select([
      'issue.id',
      'identifier',
      'issue.title',
      'priority',
      'assignee_agent_id as assigneeAgentId',
      'agent.name as assigneeName',
      'assignee_user_id as assigneeUserId',
      'started_at as startedAt',
      'issue.updated_at as updatedAt',
    ])
    .orderBy('issue.updated_at'),
)

/** Lists stale issues, the longest unchanged first. */
export const listStaleIssues = (db: Db, of: { companyId: string; before: string; limit: number }) =>
  db.all(staleList(of))

const staleCount = prepared((of: { companyId: string; before: string; limit: number }) =>
  sql.selectFrom(staleIssues(of).select('issue.id').as('stale')).select((eb) => eb.fn.countAll<number>().as('n')),
)

/** Counts stale issues up to a limit. */
export const countStaleIssues = (db: Db, of: { companyId: string; before: string; limit: number }): number =>
  db.first(staleCount(of))!.n

const runsByDay = prepared((of: { companyId: string; from: string }) =>
  sql
    .selectFrom('company_run_total')
    .select(['day', 'status', 'n', 'idle', 'idle_micros as idleMicros'])
    .where('company_id', '=', of.companyId)
    .where('day', '>=', of.from),
)

/** Counts the runs of each day by status, beginning with a day. */
export const countRunsByDay = (db: Db, of: { companyId: string; from: string }) => db.all(runsByDay(of))

const idleByAgent = prepared((of: { companyId: string; from: string; limit: number }) =>
  sql
    .selectFrom((eb) =>
      eb
        .selectFrom('run_total')
        .select((e) => [
          'agent_id',
          e.fn.sum<number>('idle').as('idleRuns'),
          e.fn.sum<number>('idle_micros').as('micros'),
        ])
        .where('company_id', '=', of.companyId)
        .where('day', '>=', of.from)
        .where('idle', '>', raw.lit(0))
        .groupBy('agent_id')
        .orderBy('micros', 'desc')
        .orderBy('idleRuns', 'desc')
        .orderBy('agent_id')
        .limit(of.limit)
        .as('most'),
    )
    .innerJoin('agent', 'agent.id', 'most.agent_id')
    .select((eb) => [
      'agent.id as agentId',
      'agent.name as agentName',
      eb
        .selectFrom('run_total')
        .select((e) => e.fn.sum<number>('n').as('n'))
        .whereRef('run_total.agent_id', '=', 'agent.id')
        .where('day', '>=', of.from)
        .$asScalar()
        .$notNull()
        .as('runs'),
      'idleRuns',
      'micros',
    ])
    .orderBy('micros', 'desc')
    .orderBy('idleRuns', 'desc')
    .orderBy('agent.id'),
)

/** Lists the agents with runs that made no change, the most expensive first. */
export const listIdleAgents = (db: Db, of: { companyId: string; from: string; limit: number }) =>
  db.all(idleByAgent(of))
