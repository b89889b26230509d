import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { wholeNumber } from '../../http/list.ts'
import { costMeteringNote } from '../../organization/agent/cost-metering.ts'
import { findAgent, findAgentWithFacts } from '../../organization/agent/queries.ts'
import { SUM, toSum } from '../../organization/cost/cost.ts'
import { listNames } from '../../organization/cost/queries.ts'
import { costsOfRuns } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { getIssue } from '../../work/issue/get.ts'
import { IssueReference, type IssueRow, toReference } from '../../work/issue/issue.ts'
import { listBlockingConditions, StartCondition } from '../scheduler/start-conditions.ts'
import { type Event, type PlacedEvent, readHistory } from './causes.ts'
import { sumCostOfIssue } from './queries.ts'
import { actorName, peopleIn, sentenceOf } from './sentences.ts'
import type { Names } from './words.ts'

/** One event of the history. */
export const Step = v.strictObject({
  id: field.id,
  kind: v.pipe(
    v.picklist(['activity', 'run', 'wake']),
    v.description('`wake`: a wake without a run, or without a run yet.'),
  ),
  depth: v.pipe(field.integer, v.description('The number of causes above the step.')),
  causeId: v.pipe(v.nullable(field.id), v.description('The step that caused this one. Null for the first.')),
  causeIds: v.pipe(
    v.array(v.string()),
    v.description('All activities and runs that caused the step, including those that are not in the list.'),
  ),
  at: field.timestamp,
  endedAt: v.nullable(field.timestamp),
  actorType: v.picklist(['agent', 'user', 'system']),
  actorId: v.string(),
  actorName: v.string(),
  action: v.pipe(v.string(), v.description('The action of an activity, or the reason of a run or wake.')),
  issueId: v.nullable(field.id),
  runId: v.pipe(v.nullable(field.id), v.description('The run of the step.')),
  status: v.pipe(v.nullable(v.string()), v.description('The status of a run or wake.')),
  costCents: v.pipe(v.nullable(v.number()), v.description("A run's.")),
  costStatus: v.pipe(v.nullable(SUM.costStatus), v.description("A run's.")),
  text: v.pipe(v.string(), v.description('The step as a sentence.')),
  heldBy: v.pipe(
    v.array(StartCondition),
    v.description('The conditions that keep the run of a waiting wake from starting. Empty for other steps.'),
  ),
})
export type Step = v.InferOutput<typeof Step>

/** The history of an issue, with the issue's costs. */
export const Why = v.strictObject({
  issue: IssueReference,
  runCount: v.pipe(field.integer, v.description('The number of runs on this issue among the steps.')),
  ...SUM,
  notes: v.pipe(
    v.array(v.string()),
    v.description('Notes about the costs, such as "Ada: its costs cannot be metered live".'),
  ),
  isCut: v.pipe(v.boolean(), v.description('Whether the list is truncated at the limit.')),
  steps: v.pipe(v.array(Step), v.description('Each step after its cause, otherwise in chronological order.')),
})
export type Why = v.InferOutput<typeof Why>

export const whyRoutes = [
  route({
    id: 'issues.why',
    method: 'GET',
    path: '/api/issues/:issueId/why',
    summary: 'Explain the history of an issue: events, causes, times and costs',
    description: 'Causes are followed across issues and runs to the first one.',
    who: [board, agent],
    query: v.object({
      limit: v.optional(v.pipe(wholeNumber(1, 1_000), v.description('The maximum number of events.')), '200'),
    }),
    responses: { 200: Why },
    run: (ctx, { caller, params, query }) => whyOf(ctx, getIssue(ctx, caller, params.issueId), query.limit),
  }),
]

function whyOf(ctx: Context, issue: IssueRow, limit: number): Why {
  const { placed, isCut } = readHistory(ctx, issue, limit)
  const names = namesIn(ctx, placed)
  const runs = placed.flatMap(({ event }) => (event.kind === 'run' ? event.row : []))
  const costs = costsOfRuns(
    ctx.db,
    runs.map((run) => run.id),
  )
  const costOf = (event: Event) => (event.kind === 'run' ? toSum(costs.get(event.id)) : NO_COST)
  return {
    issue: toReference(issue),
    runCount: runs.filter((run) => run.issue_id === issue.id).length,
    ...toSum(sumCostOfIssue(ctx.db, { issueId: issue.id })),
    notes: costNotes(ctx, runs),
    isCut,
    steps: placed.map((one) => {
      const heldBy = holdsOf(ctx, one.event)
      return toStep(one, { text: sentenceOf(one.event, names, heldBy), heldBy, ...costOf(one.event) }, names)
    }),
  }
}

/** Returns, for each agent of the runs, why its costs are incomplete while a run is live. */
const costNotes = (ctx: Context, runs: readonly RunRow[]): string[] =>
  [...new Set(runs.map((run) => run.agent_id))].flatMap((id) => {
    const agent = findAgentWithFacts(ctx.db, { id, now: ctx.now })
    const note = agent && costMeteringNote(agent)
    return note ? [`${agent.name}: ${note}`] : []
  })

/** Returns what keeps the run of a waiting wake from starting. */
function holdsOf(ctx: Context, { kind, row }: Event): StartCondition[] {
  if (kind !== 'wake' || row.status !== 'waiting') return []
  return listBlockingConditions(ctx, findAgent(ctx.db, { id: row.agent_id })!, row)
}

const NO_COST = { costCents: null, costStatus: null }

function toStep(
  { event, causeId, depth }: PlacedEvent,
  described: Pick<Step, 'text' | 'heldBy' | 'costCents' | 'costStatus'>,
  names: Names,
): Step {
  const common = { id: event.id, depth, causeId, causeIds: event.causes, at: event.at, ...described }
  if (event.kind === 'activity') {
    const { row } = event
    return {
      ...common,
      kind: 'activity',
      endedAt: null,
      actorType: row.actor_type,
      actorId: row.actor_id,
      actorName: actorName(row, names),
      action: row.action,
      issueId: row.entity_type === 'issue' ? row.entity_id : null,
      runId: row.run_id,
      status: null,
    }
  }
  const { row } = event
  return {
    ...common,
    kind: event.kind,
    endedAt: event.kind === 'run' ? event.row.finished_at : null,
    actorType: 'agent',
    actorId: row.agent_id,
    actorName: names.agent(row.agent_id),
    action: event.kind === 'run' ? event.row.source : (JSON.parse(row.reasons)[0]?.source ?? 'on_demand'),
    issueId: row.issue_id,
    runId: event.kind === 'run' ? event.id : null,
    status: row.status,
  }
}

/** Reads the names of all entities in the history at once. */
function namesIn(ctx: Context, placed: readonly PlacedEvent[]): Names {
  const agents = new Set<string>()
  const users = new Set<string>()
  const issues = new Set<string>()
  for (const { event } of placed) {
    if (event.kind !== 'activity') {
      agents.add(event.row.agent_id)
      if (event.row.issue_id !== null) issues.add(event.row.issue_id)
      continue
    }
    const people = peopleIn(event.row)
    for (const id of people.agents) agents.add(id)
    for (const id of people.users) users.add(id)
    if (event.row.entity_type === 'agent') agents.add(event.row.entity_id)
    if (event.row.entity_type === 'issue') issues.add(event.row.entity_id)
  }
  const agentNames = listNames(ctx.db, 'agent', [...agents])
  const userNames = listNames(ctx.db, 'auth_user', [...users])
  const issueNames = listNames(ctx.db, 'issue', [...issues])
  return {
    agent: (id) => agentNames.get(id)?.name ?? 'an agent',
    user: (id) => userNames.get(id)?.name ?? 'the board',
    issue: (id) => issueNames.get(id)?.identifier ?? 'an issue',
  }
}
