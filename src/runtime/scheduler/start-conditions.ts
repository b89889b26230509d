import type { RawBuilder, Selectable } from 'kysely'
import * as v from 'valibot'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { READY } from '../../organization/agent/lifecycle.ts'
import { isSpentSql } from '../../organization/cost/budget-status.ts'
import { monthOf, toDollars } from '../../organization/cost/money.ts'
import { PLACEMENT_OF_WAKE } from '../../organization/placement/queries.ts'
import { hasPlacements } from '../../organization/placement/resolve.ts'
import type { WakeRow } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { CompanyTable } from '../../platform/database/tables.ts'

/** A condition that keeps a run from starting, as the API returns it. */
export const StartCondition = v.strictObject({
  code: v.string(),
  effect: v.pipe(
    v.picklist(['waits', 'refused', 'fails']),
    v.description('The run would wait until the cause is gone, be refused, or start and fail at once.'),
  ),
  message: v.pipe(v.string(), v.description('The reason, and what to do about it.')),
})
export type StartCondition = v.InferOutput<typeof StartCondition>

/** The values that the conditions compare the database with. */
interface Values {
  now: string
  /** The UTC month of `now`, such as 2026-11. */
  month: string
  maxRuns: number
}

/** What the messages of the conditions name. */
interface Facts {
  agent: AgentRow
  company: Pick<Selectable<CompanyTable>, 'status' | 'pause_reason' | 'budget_micros'>
  notBefore: string | null
  maxRuns: number
  maxConcurrentRuns: number
  liveRuns: number
  /** The name of the run's placement; `local` for this machine. */
  placement: string
  liveRunsOfAgent: number
  spentByAgent: number
  spentByCompany: number
}

interface Condition {
  code: string
  effect: 'waits' | 'refused'
  /** An SQL expression over `wake`, its `agent` and its `company`: true while no run of the wake may start. */
  blocks: RawBuilder<boolean>
  message(facts: Facts): string
  /** Whether the claim enforces the condition itself: it selects the wake and pauses the agent or company, which then blocks it. */
  isEnforcedByClaim?: true
}

const LIVE_RUNS = raw<number>`(select count(*) from run where finished_at is null)`
const LIVE_RUNS_HERE = raw<number>`(select count(*) from run where finished_at is null and placement is null)`
const LIVE_RUNS_OF_AGENT = raw<number>`(select count(*) from run where run.agent_id = agent.id and finished_at is null)`
const MAX_CONCURRENT_RUNS = raw<number>`coalesce(json_extract(agent.runtime_config, '$.heartbeat.maxConcurrentRuns'), 1)`

const spentBy = (kind: 'agent' | 'company', key: RawBuilder<unknown>, month: string) =>
  raw<number>`coalesce((select cost_micros from cost_total
    where company_id = company.id and kind = ${raw.lit(kind)} and period = ${month} and key = ${key}), 0)`
const spentByAgent = (month: string) => spentBy('agent', raw`agent.id`, month)
const spentByCompany = (month: string) => spentBy('company', raw`''`, month)

/**
 * Returns all conditions that prevent a run from starting. The claim, `heldBy` of a wake and the rehearsal use this list.
 *
 * @param hasPlacements whether the instance has placements; without any, the queries read nothing about them
 */
const conditionsAt = (values: Values, hasPlacements: boolean): Condition[] => [
  ...conditionsOfAgent(values),
  ...(hasPlacements ? conditionsOfPlacements(values) : [serverBusy(values, raw`true`, LIVE_RUNS)]),
]

const serverBusy = ({ maxRuns }: Values, isHere: RawBuilder<boolean>, liveRuns: RawBuilder<number>): Condition => ({
  code: 'server_busy',
  effect: 'waits',
  blocks: raw`${isHere} and ${liveRuns} >= ${maxRuns}`,
  message: ({ liveRuns, maxRuns }) => `${liveRuns} runs are live; the limit of the server is ${maxRuns} (maxRuns).`,
})

const conditionsOfPlacements = (values: Values): Condition[] => [
  serverBusy(values, raw`${PLACEMENT_OF_WAKE} = 'local'`, LIVE_RUNS_HERE),
  {
    code: 'placement_missing',
    effect: 'waits',
    blocks: raw`${PLACEMENT_OF_WAKE} <> 'local' and not exists (select 1 from placement where name = ${PLACEMENT_OF_WAKE})`,
    message: ({ placement }) =>
      `There is no placement ${placement} any more. Add it again, or name another one (runtimeConfig.placement, or that of the project).`,
  },
  {
    code: 'placement_busy',
    effect: 'waits',
    blocks: raw`(select count(*) from run where finished_at is null and run.placement = ${PLACEMENT_OF_WAKE})
      >= (select max_runs from placement where name = ${PLACEMENT_OF_WAKE})`,
    message: ({ placement }) => `The placement ${placement} has as many live runs as it may have (its maxRuns).`,
  },
]

const conditionsOfAgent = ({ now, month }: Values): Condition[] => [
  {
    code: 'frozen',
    effect: 'waits',
    blocks: raw`exists (select 1 from freeze)`,
    message: () => 'All runs are frozen. `service thaw` ends the freeze.',
  },
  {
    code: 'works_elsewhere',
    effect: 'refused',
    blocks: raw`agent.adapter_type = 'none'`,
    message: ({ agent }) => `${agent.name} has the adapter none: the server does not start its runs.`,
  },
  {
    code: 'agent_status',
    effect: 'refused',
    blocks: raw`agent.status in ('terminated', 'pending_approval')`,
    message: ({ agent }) =>
      agent.status === 'terminated'
        ? `${agent.name} is terminated, which is final.`
        : `${agent.name} waits for the approval of the board.`,
  },
  {
    code: 'agent_status',
    effect: 'waits',
    blocks: raw`agent.status not in (${raw.join(READY)}, 'terminated', 'pending_approval')`,
    message: ({ agent }) =>
      `${agent.name} is ${pausedWords(agent)}${agent.pause_reason === 'budget' ? '' : ' Resume it.'}`,
  },
  {
    code: 'held',
    effect: 'waits',
    blocks: raw`agent.held_until > ${now}`,
    message: ({ agent }) => `${agent.name} is held until ${agent.held_until}: ${agent.held_because}`,
  },
  {
    code: 'company_stopped',
    effect: 'waits',
    blocks: raw`company.stopped_at is not null`,
    message: () => 'The company is stopped. Thaw it.',
  },
  {
    code: 'company_status',
    effect: 'waits',
    blocks: raw`company.status <> 'active'`,
    message: ({ company: { status, pause_reason } }) =>
      status !== 'paused'
        ? `The company is ${status}.`
        : pause_reason === 'budget'
          ? 'The company is paused: its budget is spent.'
          : 'The company is paused by the board. `service company resume` ends that.',
  },
  {
    code: 'agent_budget',
    effect: 'waits',
    blocks: isSpentSql(raw`agent.budget_micros`, spentByAgent(month)),
    message: ({ agent, spentByAgent }) => overspent(agent.name, agent, spentByAgent),
    isEnforcedByClaim: true,
  },
  {
    code: 'company_budget',
    effect: 'waits',
    blocks: isSpentSql(raw`company.budget_micros`, spentByCompany(month)),
    message: ({ company, spentByCompany }) => overspent('The company', company, spentByCompany),
    isEnforcedByClaim: true,
  },
  {
    code: 'agent_busy',
    effect: 'waits',
    blocks: raw`${LIVE_RUNS_OF_AGENT} >= ${MAX_CONCURRENT_RUNS}`,
    message: ({ agent, liveRunsOfAgent, maxConcurrentRuns }) =>
      `${agent.name} has ${liveRunsOfAgent} live ${liveRunsOfAgent === 1 ? 'run' : 'runs'}; its limit is ${maxConcurrentRuns} (maxConcurrentRuns).`,
  },
  {
    code: 'not_before',
    effect: 'waits',
    blocks: raw`wake.not_before > ${now}`,
    message: ({ notBefore }) => `The wake waits until ${notBefore}.`,
  },
]

/** `paused by the board.` or `paused: 3 runs in a row failed.` */
function pausedWords({ pause_message, pause_reason }: AgentRow): string {
  const why = pause_message ?? pause_reason ?? ''
  const sentence = /[.!?]$/.test(why) ? why : `${why}.`
  return sentence.startsWith('Paused by ') ? sentence.replace('Paused', 'paused') : `paused: ${sentence}`
}

const overspent = (name: string, { budget_micros }: { budget_micros: number }, spentMicros: number) =>
  `${name} has spent ${toDollars(spentMicros)} of its ${toDollars(budget_micros)} for this month. Raise the budget.`

/** The maximum number of wakes that one query lists. */
const WAKES_PER_QUERY = 100

/**
 * Lists wakes that no condition blocks, the most urgent first. One minute of
 * waiting counts as much as one step of priority, which prevents starvation.
 * One query for many wakes: it reads all that wait.
 */
export const listStartableWakes = (ctx: Context): { id: string }[] =>
  ctx.db.all((hasPlacements(ctx) ? startablePlaced : startable)(valuesOf(ctx)))

/** Returns a wake unless a condition blocks it, such as the limit that the start of another wake has reached. */
export const findStartableWake = (ctx: Context, id: string): WakeRow | undefined =>
  ctx.db.first((hasPlacements(ctx) ? startableByIdPlaced : startableById)({ ...valuesOf(ctx), id }))

function unblockedWakes(values: Values, placements: boolean) {
  let query = sql
    .selectFrom('wake')
    .innerJoin('agent', 'agent.id', 'wake.agent_id')
    .innerJoin('company', 'company.id', 'wake.company_id')
    .where('wake.status', '=', raw.lit('waiting'))
  for (const { blocks, isEnforcedByClaim } of conditionsAt(values, placements)) {
    if (!isEnforcedByClaim) query = query.where(raw<boolean>`(${blocks}) is not true`)
  }
  return query
}

const startableQuery = (placements: boolean) =>
  prepared((values: Values) =>
    unblockedWakes(values, placements)
      .select('wake.id')
      .orderBy(raw`unixepoch(wake.created_at) + 60 * wake.priority`)
      .orderBy('wake.id')
      .limit(WAKES_PER_QUERY),
  )
const startable = startableQuery(false)
const startablePlaced = startableQuery(true)

const startableByIdQuery = (placements: boolean) =>
  prepared((values: Values & { id: string }) =>
    unblockedWakes(values, placements).selectAll('wake').where('wake.id', '=', values.id),
  )
const startableById = startableByIdQuery(false)
const startableByIdPlaced = startableByIdQuery(true)

/**
 * Lists the conditions of the company, the agent and the server that keep a
 * run of the agent from starting.
 *
 * @param wake.not_before the earliest start of the waiting wake; null for at once
 */
export function listBlockingConditions(
  ctx: Context,
  agent: AgentRow,
  { not_before: notBefore, issue_id: issueId }: Pick<WakeRow, 'not_before' | 'issue_id'>,
): StartCondition[] {
  const values = { ...valuesOf(ctx), agentId: agent.id, notBefore, issueId }
  const isPlaced = hasPlacements(ctx)
  const row = ctx.db.first((isPlaced ? factsPlaced : facts)(values))!
  const known = { ...row, agent, company: row, notBefore, maxRuns: values.maxRuns }
  const blocks = row as Record<`blocks${number}`, number>
  return conditionsAt(values, isPlaced).flatMap(({ code, effect, message }, i) =>
    blocks[`blocks${i}`] ? { code, effect, message: message(known) } : [],
  )
}

type FactValues = Values & { agentId: string; notBefore: string | null; issueId: string | null }

const factsQuery = (placements: boolean) => (values: FactValues) =>
  sql
    .selectFrom('agent')
    .innerJoin('company', 'company.id', 'agent.company_id')
    .innerJoin(
      raw<{
        not_before: string | null
        issue_id: string | null
      }>`(select ${values.notBefore} as not_before, ${values.issueId} as issue_id)`.as('wake'),
      (join) => join.onTrue(),
    )
    .where('agent.id', '=', values.agentId)
    .select(['company.status', 'company.pause_reason', 'company.budget_micros'])
    .select([
      MAX_CONCURRENT_RUNS.as('maxConcurrentRuns'),
      (placements ? LIVE_RUNS_HERE : LIVE_RUNS).as('liveRuns'),
      (placements ? PLACEMENT_OF_WAKE : raw<string>`'local'`).as('placement'),
      LIVE_RUNS_OF_AGENT.as('liveRunsOfAgent'),
      spentByAgent(values.month).as('spentByAgent'),
      spentByCompany(values.month).as('spentByCompany'),
    ])
    .select(conditionsAt(values, placements).map(({ blocks }, i) => raw<number>`(${blocks}) is true`.as(`blocks${i}`)))

const facts = prepared(factsQuery(false))
const factsPlaced = prepared(factsQuery(true))

const valuesOf = (ctx: Context): Values => ({
  now: ctx.now,
  month: monthOf(ctx.now),
  maxRuns: ctx.config.maxRuns,
})
