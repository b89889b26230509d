import type { ActivityRow } from '../../access/activity/queries.ts'
import { outcomeDetail, type RunRow } from '../../organization/run/run.ts'
import type { WakeReason, WakeRow } from '../../organization/wake/wake.ts'
import type { Event } from './causes.ts'

/** Returns the names of agents, people and issues by id. */
export interface Names {
  agent(id: string): string
  user(id: string): string
  issue(id: string): string
}

// biome-ignore lint/suspicious/noExplicitAny: the details of an activity are as many shapes as there are actions.
type Details = any

/** Describes an event as a sentence with its actor, without a full stop. */
export function sentenceOf(event: Event, names: Names): string {
  if (event.kind === 'run') return runSentence(event.row, names)
  if (event.kind === 'wake') return wakeSentence(event.row, names)
  return `${actorName(event.row, names)} ${activitySentence(event.row, names)}`
}

export function actorName(row: Pick<ActivityRow, 'actor_type' | 'actor_id'>, names: Names): string {
  if (row.actor_type === 'agent') return names.agent(row.actor_id)
  return row.actor_type === 'user' ? names.user(row.actor_id) : 'the server'
}

/** Returns the ids of the agents in an activity. */
export const agentsIn = (row: ActivityRow): string[] => {
  const { assigneeAgentId, changes, mentionedAgentIds = [] }: Details = JSON.parse(row.details ?? '{}')
  const { from, to } = changes?.assigneeAgentId ?? {}
  return [row.actor_id, row.agent_id, assigneeAgentId, from, to, ...mentionedAgentIds].filter(Boolean)
}

function activitySentence(row: ActivityRow, names: Names): string {
  const details: Details = JSON.parse(row.details ?? '{}')
  const { identifier = row.entity_type === 'issue' ? names.issue(row.entity_id) : '' } = details
  switch (row.action) {
    case 'issue.created':
      return `created ${identifier} “${details.title}”${details.assigneeAgentId ? ` for ${names.agent(details.assigneeAgentId)}` : ''}`
    case 'issue.updated':
      return changesOf(identifier, details.changes ?? {}, names)
    case 'issue.checked_out':
      return details.assigneeAgentId === row.actor_id
        ? `took ${identifier} and started work`
        : `gave ${identifier} to ${names.agent(details.assigneeAgentId)}, to start work`
    case 'issue.released':
      return `${details.forced ? 'took away' : 'gave back'} ${identifier}${details.because ? ` (${wordsOf(details.because)})` : ''}`
    case 'issue.reopened':
      return `opened ${identifier} again`
    case 'issue.commented':
      return `said on ${identifier} “${oneLine(details.snippet ?? '')}”`
    case 'agent.invoked':
      return `woke ${names.agent(row.entity_id)}${details.reason ? `: ${oneLine(details.reason)}` : ''}`
    case 'agent.paused':
      return `paused ${names.agent(row.entity_id)}: ${oneLine(details.message ?? details.reason ?? '')}`
    case 'agent.terminated':
      return `terminated ${names.agent(row.entity_id)}`
    case 'approval.approved':
    case 'approval.rejected':
    case 'approval.revision_requested':
      return `${wordsOf(row.action.slice('approval.'.length))} ${APPROVALS[details.type as keyof typeof APPROVALS] ?? 'an approval'}${details.decisionNote ? `: “${oneLine(details.decisionNote)}”` : ''}`
    case 'issue.attachment_added':
    case 'issue.attachment_removed':
      return `${row.action.endsWith('added') ? 'attached' : 'removed'} the file ${oneLine(details.fileName ?? '')}`
    case 'issue.document_created':
    case 'issue.document_updated':
    case 'issue.document_deleted':
      return `${row.action.slice('issue.document_'.length)} the document ${oneLine(details.key ?? '')}`
    case 'issue.interaction_created':
      return `asked “${oneLine(details.title ?? '')}” on ${identifier}`
    case 'issue.interaction_answered':
      return `answered “${oneLine(details.title ?? '')}” on ${identifier}`
    case 'issue.interaction_cancelled':
      return `took the question “${oneLine(details.title ?? '')}” back`
    case 'issue.approval_linked':
    case 'issue.approval_unlinked':
      return `${row.action.endsWith('_linked') ? 'linked an approval to' : 'unlinked an approval from'} ${identifier}`
    case 'issue.runs_limited':
      return `holds back runs on ${identifier}: ${details.runsInAnHour} started within an hour`
    case 'approval.created':
      return `asked for ${details.title ? `“${oneLine(details.title)}”` : `an approval (${wordsOf(details.type ?? '')})`}`
    case 'approval.resubmitted':
      return 'asked for the approval again'
    case 'approval.cancelled':
      return 'took the approval back'
    case 'agent.hired':
    case 'agent.hire_requested':
      return `${row.action === 'agent.hired' ? 'hired' : 'asked to hire'} ${names.agent(row.entity_id)}`
    case 'agent.resumed':
      return `resumed ${names.agent(row.entity_id)}`
    default:
      return sentenceOfAction(row.action, identifier)
  }
}

/** `routine.created` as `created a routine`. */
function sentenceOfAction(action: string, identifier: string): string {
  const [noun = '', verb = ''] = action.split('.')
  const words = wordsOf(verb)
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a'
  return `${words} ${noun === 'issue' && identifier ? identifier : `${article} ${wordsOf(noun)}`}`
}

function changesOf(identifier: string, changes: Details, names: Names): string {
  const { status, assigneeAgentId, ...others } = changes
  const parts: string[] = []
  if (status) parts.push(`set ${identifier} from ${wordsOf(status.from)} to ${wordsOf(status.to)}`)
  if (assigneeAgentId?.to) parts.push(`gave ${identifier} to ${names.agent(assigneeAgentId.to)}`)
  if (assigneeAgentId && !assigneeAgentId.to) parts.push(`took ${identifier} from ${names.agent(assigneeAgentId.from)}`)
  const fields = Object.keys(others).map((field) => field.replace(/Ids?$/, ''))
  if (fields.length > 0) parts.push(`changed the ${fields.join(', ')} of ${identifier}`)
  return parts.join(' and ')
}

function runSentence(row: RunRow, names: Names): string {
  const on = row.issue_id === null ? '' : ` on ${names.issue(row.issue_id)}`
  const again = row.retry_of_run_id === null ? '' : ' again'
  const reasons = JSON.parse(row.reasons) as WakeReason[]
  const more = reasons.length > 1 ? ` and ${reasons.length - 1} more` : ''
  const why = row.retry_of_run_id === null ? ` (${wordsOf(row.source)}${more})` : ''
  return `${names.agent(row.agent_id)} ran${again}${on}${why}${endOf(row)}`
}

function endOf(row: RunRow): string {
  const { status, error, retrying } = row
  if (status === 'starting' || status === 'running') return `, and still does${retrying ? ` (${retrying})` : ''}`
  const detail = outcomeDetail(row)
  if (status === 'succeeded') return detail ? `: ${detail}` : ''
  return `: ${wordsOf(status)}${error ? `, ${oneLine(error).replace(/\.$/, '')}` : ''}`
}

function wakeSentence(row: WakeRow, names: Names): string {
  const [first] = JSON.parse(row.reasons) as WakeReason[]
  const name = names.agent(row.agent_id)
  const why = first ? ` (${wordsOf(first.source)})` : ''
  if (row.status === 'dropped') return `${name} was to run${why}, and was ${row.dropped_reason ?? 'stopped'} before`
  return `${name} is to run${why}${row.not_before ? ` at ${row.not_before}` : ''}`
}

/** What an approval is about, after a verb. */
const APPROVALS = {
  hire_agent: 'a hire',
  approve_ceo_strategy: 'the strategy',
  request_board_approval: 'a request',
  allow_folder: 'a request for a folder',
} as const

const wordsOf = (name: string) => name.replaceAll(/[._]/g, ' ')

/** The maximum length of a quotation in a sentence. */
const QUOTED = 80

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > QUOTED ? `${line.slice(0, QUOTED - 1).toWellFormed()}…` : line
}
