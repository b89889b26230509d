import type { ItemOf } from '../client/types.ts'

/** One event of a company in the output of the demo. */
export interface Step {
  /** A stable id, which identifies the event in repeated reads. */
  id: string
  /** ISO 8601. */
  at: string
  who: string
  kind:
    | 'wakes'
    | 'takes'
    | 'gives'
    | 'says'
    | 'moves'
    | 'waits'
    | 'hands in'
    | 'finishes'
    | 'asks'
    | 'approves'
    | 'fails'
  text: string
}

export type Team = ReadonlyMap<string, { name: string; role: string }>

/** Issues by their id. */
export type Titles = ReadonlyMap<string, { identifier: string; title: string }>

/** The fields of an activity's details that a step is made of. Each action has its own. */
interface Details {
  snippet?: string
  assigneeAgentId?: string
  changes?: { status?: { to?: string } }
}

type Activity = Omit<ItemOf<'GET /api/companies/:companyId/activity'>, 'details'> & { details: Details | null }

export type Run = ItemOf<'GET /api/companies/:companyId/runs'>

/** Converts the activity to steps. It omits the actions that the demo does not print. */
export function stepsOfActivity(
  entries: readonly ItemOf<'GET /api/companies/:companyId/activity'>[],
  team: Team,
  titles: Titles,
): Step[] {
  const activity = entries as readonly Activity[]
  // A change of status and its comment are one transaction with one timestamp, and become one step.
  const key = (entry: Activity) => `${entry.entityId} ${entry.createdAt}`
  const isComment = (entry: Activity) => entry.action === 'issue.commented'
  const moved = new Set(activity.filter((entry) => entry.details?.changes?.status).map(key))
  const printed = new Map(
    activity.filter(isComment).map((entry) => [key(entry), firstLine(entry.details?.snippet ?? '')]),
  )
  return activity
    .filter((entry) => !isComment(entry) || !moved.has(key(entry)))
    .map((entry) => stepOf(entry, team, titles, printed.get(key(entry))))
    .filter((step) => step !== undefined)
}

/**
 * Converts one activity to a step.
 *
 * @param printed the comment of the same transaction
 */
function stepOf(entry: Activity, team: Team, titles: Titles, printed?: string): Step | undefined {
  const step = (kind: Step['kind'], text: string): Step => ({
    id: entry.id,
    at: entry.createdAt,
    who: entry.actorType === 'agent' ? (team.get(entry.actorId)?.name ?? 'Agent') : 'Board',
    kind,
    text,
  })
  const issue = titles.get(entry.entityId)
  const title = `${issue?.identifier} ${issue?.title}`
  const { details } = entry
  switch (entry.action) {
    case 'issue.created':
      return step('gives', `${title} → ${team.get(details?.assigneeAgentId ?? '')?.name ?? 'nobody'}`)
    case 'issue.checked_out':
      return step('takes', title)
    case 'issue.commented':
      return step('says', `${issue?.identifier} “${printed}”`)
    case 'issue.updated': {
      const to = details?.changes?.status?.to
      if (!to) return undefined
      return step(
        KIND_OF_STATUS[to] ?? 'moves',
        to === 'blocked' && printed ? `${issue?.identifier} “${printed}”` : title,
      )
    }
    case 'approval.created':
      return step('asks', 'the board to approve its strategy')
    case 'approval.approved':
      return step('approves', 'the strategy, as you would at an approval')
    default:
      return undefined
  }
}

const KIND_OF_STATUS: Record<string, Step['kind']> = { blocked: 'waits', in_review: 'hands in', done: 'finishes' }

const firstLine = (text: string) => {
  const line = text.split('\n')[0]!
  return line.length > 70 ? `${line.slice(0, 69)}…` : line
}

/** Converts a run to steps: its start, and its end if it failed. */
export function stepsOfRun(run: Run, team: Team, titles: Titles): Step[] {
  const who = team.get(run.agentId)?.name ?? 'Agent'
  const on = run.issueId ? ` on ${titles.get(run.issueId)?.identifier ?? 'an issue'}` : ''
  const why = (run.wakeReason ?? run.invocationSource).replaceAll('_', ' ')
  const steps: Step[] = [{ id: run.id, at: run.startedAt ?? run.createdAt, who, kind: 'wakes', text: `${why}${on}` }]
  if (['failed', 'lost', 'timed_out'].includes(run.status)) {
    const text = `${run.status.replaceAll('_', ' ')}: ${run.error ?? 'no reason given'}`
    steps.push({ id: `${run.id} end`, at: run.finishedAt ?? run.createdAt, who, kind: 'fails', text })
  }
  return steps
}
