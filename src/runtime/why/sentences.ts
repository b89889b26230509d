import type { ActivityRow } from '../../access/activity/queries.ts'
import { outcomeDetail, type RunRow } from '../../organization/run/run.ts'
import type { WakeReason, WakeRow } from '../../organization/wake/wake.ts'
import type { StartCondition } from '../scheduler/start-conditions.ts'
import { activitySentence, type Details } from './activity-sentence.ts'
import type { Event } from './causes.ts'
import { type Names, oneLine, reason, wordsOf } from './words.ts'

/** Describes an event as a sentence with its actor, without a full stop. */
export function sentenceOf(event: Event, names: Names, heldBy: readonly StartCondition[]): string {
  if (event.kind === 'run') return runSentence(event.row, names)
  if (event.kind === 'wake') return wakeSentence(event.row, names, heldBy)
  return `${actorName(event.row, names)} ${activitySentence(event.row, names)}`
}

export function actorName(row: Pick<ActivityRow, 'actor_type' | 'actor_id'>, names: Names): string {
  if (row.actor_type === 'agent') return names.agent(row.actor_id)
  return row.actor_type === 'user' ? names.user(row.actor_id) : 'the server'
}

/** Returns the ids of the agents and of the people in an activity. */
export function peopleIn(row: ActivityRow): { agents: string[]; users: string[] } {
  const { assigneeAgentId, changes, mentionedAgentIds = [] }: Details = JSON.parse(row.details ?? '{}')
  const { from, to } = changes?.assigneeAgentId ?? {}
  const user = changes?.assigneeUserId ?? {}
  return {
    agents: [row.actor_id, row.agent_id, assigneeAgentId, from, to, ...mentionedAgentIds].filter(Boolean),
    users: [row.actor_type === 'user' && row.actor_id, user.from, user.to].filter(Boolean),
  }
}

function runSentence(row: RunRow, names: Names): string {
  const on = row.issue_id === null ? '' : ` on ${names.issue(row.issue_id)}`
  const again = row.retry_of_run_id === null ? '' : ' again'
  const reasons = JSON.parse(row.reasons) as WakeReason[]
  const more = reasons.length > 1 ? ` and ${reasons.length - 1} more` : ''
  const why = row.retry_of_run_id === null ? ` (${wordsOf(row.source)}${more})` : ''
  const did = isWaiting(row) ? 'is to run' : 'ran'
  return `${names.agent(row.agent_id)} ${did}${again}${on}${why}${endOf(row)}`
}

/** Whether a run waits in the queue of its placement. */
const isWaiting = ({ finished_at, job_waiting }: RunRow) => finished_at === null && job_waiting !== null

function endOf(row: RunRow): string {
  const { status, error, retrying, placement, job_node: node } = row
  if (isWaiting(row)) return `, and waits in the placement ${placement}: ${row.job_waiting}`
  if (status === 'starting' || status === 'running') {
    const place = placement === null ? '' : ` in the placement ${placement}${node === null ? '' : ` on ${node}`}`
    return `, and still does${place}${retrying ? ` (${retrying})` : ''}`
  }
  const detail = outcomeDetail(row)
  if (status === 'succeeded') return detail ? `: ${detail}` : ''
  const why = error === null ? '' : oneLine(error).replace(/\.$/, '')
  // The text of a cancellation without a further cause repeats the status.
  return `: ${wordsOf(status)}${why === '' || why.toLowerCase() === status ? '' : `, ${why}`}`
}

function wakeSentence(row: WakeRow, names: Names, heldBy: readonly StartCondition[]): string {
  const [first] = JSON.parse(row.reasons) as WakeReason[]
  const name = names.agent(row.agent_id)
  const why = first ? ` (${wordsOf(first.source)})` : ''
  if (row.status === 'dropped') return `${name} was to run${why}, and was ${row.dropped_reason ?? 'stopped'} before`
  const budget = heldBy.find(({ code }) => code === 'agent_budget' || code === 'company_budget')
  const hold = budget ?? heldBy.find(({ code }) => code !== 'not_before')
  if (!hold) return `${name} is to run${why}${row.not_before ? ` at ${row.not_before}` : ''}`
  // Most messages begin with the agent's name, which the sentence has already.
  if (!budget && hold.message.startsWith(`${name} `))
    return `${name} is to run${why}, but ${reason(hold.message.slice(name.length + 1))}`
  const by = budget ? (budget.code === 'agent_budget' ? ' by its budget' : ' by the budget of the company') : ''
  return `${name} is to run${why}, held${by}: ${reason(hold.message)}`
}
