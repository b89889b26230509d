import type { ActivityRow } from '../../access/activity/queries.ts'
import { listActivity } from '../../access/activity/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { WakeReason, WakeRow } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import type { IssueRow } from '../../work/issue/issue.ts'
import { listActivityByIds, listHolds, listIdleWakesOfIssue, listRunsByIds, listRunsOfIssue } from './queries.ts'

/** An event with the ids of its causes. */
export type Event =
  | { kind: 'activity'; id: string; at: string; row: ActivityRow; causes: string[] }
  | { kind: 'run'; id: string; at: string; row: RunRow; causes: string[] }
  | { kind: 'wake'; id: string; at: string; row: WakeRow; causes: string[] }

/** An event at its place in the history: below its cause. */
export interface PlacedEvent {
  event: Event
  causeId: string | null
  depth: number
}

export interface History {
  /** Each event follows its cause; otherwise they are sorted by time. */
  placed: PlacedEvent[]
  /** Whether events were omitted: beyond the limit, or causes further back than `MAX_CAUSE_LEVELS`. */
  isCut: boolean
}

/** How many levels of causes are read. */
const MAX_CAUSE_LEVELS = 20

/**
 * Reads the history of an issue with its causes: the latest `limit` entries of
 * its activity, its runs and its wakes, and what caused each of them, also on
 * other issues, back to the first cause.
 */
export function readHistory(ctx: Context, issue: IssueRow, limit: number): History {
  const { db } = ctx
  const companyId = issue.company_id
  const activity = listActivity(db, { companyId, entityId: issue.id }, limit + 1)
  const runs = listRunsOfIssue(db, { issueId: issue.id, limit })
  const wakes = listIdleWakesOfIssue(db, { issueId: issue.id, companyId, limit })

  const events = new Map<string, Event>()
  const add = (event: Event) => events.set(event.id, event)
  activity.slice(0, limit).map(ofActivity).forEach(add)
  runs.map(ofRun).forEach(add)
  wakes.map(ofWake).forEach(add)

  addHolds(ctx, issue, events)

  const wanted = new Set<string>()
  for (let round = 0; ; round++) {
    const missing = [...events.values()].flatMap(({ causes }) => causes.slice(0, 1)).filter((id) => !wanted.has(id))
    const ids = [...new Set(missing)].filter((id) => !events.has(id))
    const isCut = activity.length > limit || runs.length === limit || wakes.length === limit
    if (ids.length === 0) return { placed: placeByCause(events), isCut }
    if (round === MAX_CAUSE_LEVELS) return { placed: placeByCause(events), isCut: true }
    for (const id of ids) wanted.add(id)
    listActivityByIds(db, { companyId, ids }).map(ofActivity).forEach(add)
    listRunsByIds(db, { companyId, ids }).map(ofRun).forEach(add)
  }
}

/**
 * Adds what held back the runs of a history: the pauses and holds of an agent,
 * or of its company, between the first cause of a wake and its run. Each is
 * placed beside that run, below the same cause.
 */
function addHolds(ctx: Context, { company_id: companyId }: IssueRow, events: Map<string, Event>): void {
  const waits = [...events.values()].flatMap(({ kind, row, at, causes }) => {
    if (kind === 'activity') return []
    const [first] = JSON.parse(row.reasons) as WakeReason[]
    return { agentId: row.agent_id, since: first?.at ?? at, until: kind === 'wake' ? ctx.now : at, causes }
  })
  for (const [agentId, ofAgent] of Map.groupBy(waits, (wait) => wait.agentId)) {
    const since = ofAgent.reduce((earliest, wait) => (wait.since < earliest ? wait.since : earliest), ctx.now)
    for (const hold of listHolds(ctx.db, { companyId, agentId, since })) {
      const wait = ofAgent.find((one) => one.since <= hold.created_at && hold.created_at <= one.until)
      if (wait && !events.has(hold.id)) events.set(hold.id, { ...ofActivity(hold), causes: wait.causes })
    }
  }
}

const ofActivity = (row: ActivityRow) => ({
  kind: 'activity' as const,
  id: row.id,
  at: row.created_at,
  row,
  causes: row.run_id === null ? [] : [row.run_id],
})

const ofRun = (row: RunRow): Event => ({ kind: 'run', id: row.id, at: row.created_at, row, causes: causesOf(row) })

const ofWake = (row: WakeRow): Event => ({ kind: 'wake', id: row.id, at: row.created_at, row, causes: causesOf(row) })

/**
 * Returns the ids of the causes of a wake, the most important first: the first
 * reason or, for a retry, the run that it repeats.
 */
function causesOf(row: { reasons: string; retry_of_run_id: string | null }): string[] {
  const reasons = JSON.parse(row.reasons) as WakeReason[]
  const ids = reasons.flatMap((reason) => reason.activityId ?? reason.runId ?? [])
  const retry = row.retry_of_run_id && (reasons.findLast(({ source }) => source === 'retry')?.runId ?? null)
  return [...new Set(retry ? [retry, ...ids] : ids)]
}

/** Sorts events by time, with the consequences of each event below it. */
function placeByCause(events: ReadonlyMap<string, Event>): PlacedEvent[] {
  const below = new Map<string | null, Event[]>()
  for (const event of events.values()) {
    const causeId = event.causes.find((id) => events.has(id) && id !== event.id) ?? null
    below.set(causeId, [...(below.get(causeId) ?? []), event])
  }
  const placed: PlacedEvent[] = []
  const placeBelow = (causeId: string | null, depth: number) => {
    const consequences = below.get(causeId) ?? []
    below.delete(causeId)
    // Ids sort by time too, and distinguish events of the same millisecond.
    for (const event of consequences.sort((a, b) => compare(a.at, b.at) || compare(a.id, b.id))) {
      placed.push({ event, causeId, depth })
      placeBelow(event.id, depth + 1)
    }
  }
  placeBelow(null, 0)
  return placed
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
