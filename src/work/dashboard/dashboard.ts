import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { SHOWN_STATUSES, type ShownStatus } from '../../organization/agent/lifecycle.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { MICROS_PER_CENT, toCents } from '../../organization/cost/money.ts'
import { companySpend } from '../../organization/cost/queries.ts'
import type { RunStatus } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { PRIORITIES } from '../issue/issue.ts'
import { ISSUE_STATUSES, type IssueStatus, isTerminal } from '../issue/lifecycle.ts'
import {
  countAgentsByStatus,
  countIssuesByStatus,
  countPendingApprovals,
  countRunsByDay,
  countStaleIssues,
  listIdleAgents,
  listStaleIssues,
} from './queries.ts'

/** The number of days of runs, including today. */
const DAYS_SHOWN = 14

/** The maximum numbers of stale issues that are listed and counted, which limit the cost of the query. */
const STALE_LISTED = 50
export const STALE_COUNTED = 1_000

/** The maximum number of agents that are listed with their idle runs. */
const IDLE_LISTED = 20

const count = field.integer
const counts = <const Names extends readonly string[]>(names: Names) =>
  v.strictObject(Object.fromEntries(names.map((name) => [name, count])) as Record<Names[number], typeof count>)

const StaleIssue = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  priority: v.picklist(PRIORITIES),
  assigneeAgentId: v.nullable(field.id),
  assigneeName: v.pipe(v.nullable(v.string()), v.description("The assigned agent's name.")),
  assigneeUserId: v.nullable(v.string()),
  startedAt: v.nullable(field.timestamp),
  updatedAt: field.timestamp,
})

/** The state of a company in numbers. */
export const Dashboard = v.strictObject({
  companyId: field.id,
  agents: v.strictObject({
    active: v.pipe(count, v.description('Agents that are idle: ready to work.')),
    running: count,
    paused: count,
    error: count,
    pendingApproval: count,
    byStatus: counts(SHOWN_STATUSES),
  }),
  tasks: v.strictObject({
    open: v.pipe(count, v.description('Issues that are neither done nor cancelled.')),
    inProgress: count,
    inReview: count,
    blocked: count,
    done: count,
    byStatus: counts(ISSUE_STATUSES),
  }),
  costs: v.strictObject({
    monthSpendCents: v.number(),
    monthBudgetCents: v.pipe(field.integer, v.description('0 is no limit.')),
    monthUtilizationPercent: v.pipe(
      v.number(),
      v.description('The used share of the budget, in percent. 0 without a budget.'),
    ),
  }),
  pendingApprovals: count,
  staleTasks: v.pipe(
    count,
    v.description(`Issues in progress without a live run or a change. Counted up to ${STALE_COUNTED}.`),
  ),
  staleAfterSec: field.integer,
  staleTaskList: v.pipe(
    v.array(StaleIssue),
    v.description(`The stale issues, the longest untouched first, at most ${STALE_LISTED}.`),
  ),
  runActivity: v.pipe(
    v.array(
      v.strictObject({
        date: v.pipe(v.string(), v.description('A UTC day.')),
        succeeded: count,
        failed: v.pipe(count, v.description('Failed, timed out or lost.')),
        other: v.pipe(count, v.description('Cancelled, or not yet ended.')),
        total: count,
      }),
    ),
    v.description(`The last ${DAYS_SHOWN} days, today last.`),
  ),
  idleRuns: v.pipe(
    v.strictObject({
      runs: count,
      costCents: v.number(),
      byAgent: v.pipe(
        v.array(
          v.strictObject({
            agentId: field.id,
            agentName: v.string(),
            runs: v.pipe(count, v.description('The number of runs of the agent on those days.')),
            idleRuns: count,
            costCents: v.pipe(v.number(), v.description('The cost of the idle runs.')),
          }),
        ),
        v.description(`At most ${IDLE_LISTED} agents, the highest cost first.`),
      ),
    }),
    v.description('Runs of those days that changed nothing. A longer interval or skipIfIdle avoids their cost.'),
  ),
})
export type Dashboard = v.InferOutput<typeof Dashboard>

/**
 * Reads the dashboard of a company. The numbers come from running totals or
 * from an index of exactly those rows, so the time does not grow with the
 * history. Only the list of agents with idle runs reads a row for each agent
 * and day, in the reader.
 */
export async function dashboardOf(ctx: Context, companyId: string, staleAfterSec: number): Promise<Dashboard> {
  const days = daysUntil(ctx.now)
  const figures = figuresOf(ctx, companyId, { staleAfterSec, days })
  const { idleRuns } = figures
  const wanted = { companyId, from: days[0]!, limit: IDLE_LISTED }
  const byAgent = idleRuns.runs > 0 ? await ctx.reader.run(idleAgentsJob, wanted) : []
  return { ...figures, idleRuns: { ...idleRuns, byAgent } }
}

/** Lists the agents with idle runs, the highest cost first. */
export const idleAgentsJob: ReadJob<
  { companyId: string; from: string; limit: number },
  Dashboard['idleRuns']['byAgent']
> = {
  name: 'dashboard.idle-agents',
  run: (db, wanted) =>
    listIdleAgents(db, wanted).map(({ micros, ...agent }) => ({ ...agent, costCents: micros / MICROS_PER_CENT })),
}

/** Reads everything except the list of agents with idle runs. */
export function figuresOf(
  ctx: Context,
  companyId: string,
  { staleAfterSec, days }: { staleAfterSec: number; days: readonly string[] },
) {
  const stale = { companyId, before: new Date(Date.parse(ctx.now) - staleAfterSec * 1_000).toISOString() }
  const staleTaskList = listStaleIssues(ctx.db, { ...stale, limit: STALE_LISTED })
  return {
    companyId,
    agents: agentsOf(ctx, companyId),
    tasks: tasksOf(ctx, companyId),
    costs: costsOf(ctx, companyId),
    pendingApprovals: countPendingApprovals(ctx.db, { companyId }),
    staleTasks:
      staleTaskList.length < STALE_LISTED
        ? staleTaskList.length
        : countStaleIssues(ctx.db, { ...stale, limit: STALE_COUNTED }),
    staleAfterSec,
    staleTaskList,
    ...runsOf(ctx, companyId, days),
  }
}

function agentsOf(ctx: Context, companyId: string): Dashboard['agents'] {
  const byStatus = tally(SHOWN_STATUSES, countAgentsByStatus(ctx.db, { companyId }))
  const { idle, running, paused, error, pending_approval } = byStatus
  return { active: idle, running, paused, error, pendingApproval: pending_approval, byStatus }
}

function tasksOf(ctx: Context, companyId: string): Dashboard['tasks'] {
  const byStatus = tally(ISSUE_STATUSES, countIssuesByStatus(ctx.db, { companyId }))
  const open = ISSUE_STATUSES.reduce((sum, status) => (isTerminal(status) ? sum : sum + byStatus[status]), 0)
  const { in_progress, in_review, blocked, done } = byStatus
  return { open, inProgress: in_progress, inReview: in_review, blocked, done, byStatus }
}

function tally<Status extends ShownStatus | IssueStatus>(
  statuses: readonly Status[],
  rows: readonly { status: Status; n: number }[],
): Record<Status, number> {
  const none = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>
  return { ...none, ...Object.fromEntries(rows.map((row) => [row.status, row.n])) }
}

function costsOf(ctx: Context, companyId: string): Dashboard['costs'] {
  const budget = findCompany(ctx.db, { id: companyId })!.budget_micros
  const spent = companySpend(ctx.db, { companyId, now: ctx.now })
  return {
    monthSpendCents: spent / MICROS_PER_CENT,
    monthBudgetCents: toCents(budget),
    monthUtilizationPercent: budget === 0 ? 0 : Math.round((spent / budget) * 10_000) / 100,
  }
}

const FAILED: readonly string[] = ['failed', 'timed_out', 'lost'] satisfies RunStatus[]

function runsOf(ctx: Context, companyId: string, days: readonly string[]) {
  const rows = countRunsByDay(ctx.db, { companyId, from: days[0]! })
  const byDay = Map.groupBy(rows, (row) => row.day)
  const runActivity = days.map((date) => {
    const day = { date, succeeded: 0, failed: 0, other: 0, total: 0 }
    for (const { status, n } of byDay.get(date) ?? []) {
      day[status === 'succeeded' ? 'succeeded' : FAILED.includes(status) ? 'failed' : 'other'] += n
      day.total += n
    }
    return day
  })
  const runs = rows.reduce((sum, { idle }) => sum + idle, 0)
  const costCents = rows.reduce((sum, { idleMicros }) => sum + idleMicros, 0) / MICROS_PER_CENT
  return { runActivity, idleRuns: { runs, costCents } }
}

/** Returns the UTC days of the dashboard, earliest first. */
function daysUntil(now: string): string[] {
  const today = Date.parse(now)
  return Array.from({ length: DAYS_SHOWN }, (_, i) =>
    new Date(today - (DAYS_SHOWN - 1 - i) * 86_400_000).toISOString().slice(0, 10),
  )
}
