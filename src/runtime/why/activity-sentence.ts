import type { Action } from '../../access/activity/actions.ts'
import type { ActivityRow } from '../../access/activity/queries.ts'
import { dollars } from '../../organization/cost/money.ts'
import { type Names, oneLine, quoted, reason, wordsOf } from './words.ts'

// biome-ignore lint/suspicious/noExplicitAny: the details of an activity are as many shapes as there are actions.
export type Details = any

interface Facts {
  details: Details
  /** The entity: an identifier, an agent's name, or such as `the routine “Weekly review”`. */
  subject: string
  row: ActivityRow
  names: Names
}

/** Describes an activity as a sentence without its actor, such as `took TER-6 and started work`. */
export function activitySentence(row: ActivityRow, names: Names): string {
  const details: Details = JSON.parse(row.details ?? '{}')
  const facts = { details, subject: subjectOf(row, details, names), row, names }
  return SENTENCES[row.action as Action]?.(facts) ?? regularSentence(row.action, facts.subject)
}

function subjectOf(row: ActivityRow, details: Details, names: Names): string {
  if (row.entity_type === 'issue') return details.identifier ?? names.issue(row.entity_id)
  if (row.entity_type === 'agent') return names.agent(row.entity_id)
  if (row.entity_type === 'company') return 'the company'
  const noun = wordsOf(row.entity_type)
  const name = details.title ?? details.name ?? details.key ?? details.fileName
  if (typeof name === 'string') return `the ${noun} ${quoted(name)}`
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** `routine.paused` as `paused the routine “Review”`, and `agent.key_created` as `created the key of Kit`. */
function regularSentence(action: string, subject: string): string {
  const words = wordsOf(action.slice(action.indexOf('.') + 1)).split(' ')
  const participle = words.pop()
  return words.length === 0 ? `${participle} ${subject}` : `${participle} the ${words.join(' ')} of ${subject}`
}

/** The sentences of the actions that do not follow the rule of `regularSentence`. */
const SENTENCES: Partial<Record<Action, (facts: Facts) => string>> = {
  'issue.created': ({ details, subject, names }) =>
    `created ${subject} “${details.title}”${details.assigneeAgentId ? ` for ${names.agent(details.assigneeAgentId)}` : ''}`,
  'issue.updated': ({ details, subject, names }) => changesOf(subject, details.changes ?? {}, names),
  'issue.checked_out': ({ details, subject, row, names }) =>
    details.assigneeAgentId === row.actor_id
      ? `took ${subject} and started work`
      : `gave ${subject} to ${names.agent(details.assigneeAgentId)}, to start work`,
  'issue.released': ({ details, subject }) =>
    `${details.forced ? 'took away' : 'gave back'} ${subject}${details.because === 'agent.terminated' ? ' because its agent was terminated' : ''}`,
  'issue.reopened': ({ subject }) => `opened ${subject} again`,
  'issue.commented': ({ details, subject }) => `said on ${subject} ${quoted(details.snippet ?? '')}`,
  'issue.deleted': ({ details, subject }) => `deleted ${subject} ${quoted(details.title ?? '')}`,
  'issue.attachment_added': ({ details, subject }) =>
    `attached the file ${oneLine(details.fileName ?? '')} to ${subject}`,
  'issue.attachment_removed': ({ details, subject }) =>
    `removed the file ${oneLine(details.fileName ?? '')} from ${subject}`,
  'issue.document_created': documentSentence('added', 'to'),
  'issue.document_updated': documentSentence('changed', 'of'),
  'issue.document_deleted': documentSentence('deleted', 'of'),
  'issue.interaction_created': ({ details, subject }) => `asked ${quoted(details.title ?? '')} on ${subject}`,
  'issue.interaction_answered': ({ details, subject }) => `answered ${quoted(details.title ?? '')} on ${subject}`,
  'issue.interaction_cancelled': ({ details, subject }) =>
    `withdrew the question ${quoted(details.title ?? '')} on ${subject}`,
  'issue.approval_linked': ({ subject }) => `linked an approval to ${subject}`,
  'issue.approval_unlinked': ({ subject }) => `unlinked an approval from ${subject}`,
  'issue.runs_limited': ({ details, subject }) =>
    `holds back runs on ${subject}: ${details.runsInAnHour} started within an hour`,
  'agent.invoked': ({ details, subject }) => `woke ${subject}${details.reason ? `: ${oneLine(details.reason)}` : ''}`,
  'agent.paused': ({ details, subject }) =>
    `paused ${subject}${details.message || details.reason ? `: ${reason(details.message ?? details.reason)}` : ''}`,
  'agent.held': ({ details, subject }) =>
    `holds ${subject} until ${details.heldUntil}: ${reason(details.heldBecause ?? '')}`,
  'agent.hire_requested': ({ subject }) => `asked to hire ${subject}`,
  'agent.rolled_back': ({ subject }) => `rolled back the configuration of ${subject}`,
  'agent.budget_changed': ({ details, subject }) =>
    `changed the budget of ${subject} from ${budget(details.fromCents)} to ${budget(details.toCents)}`,
  'agent.budget_warning': ({ details, subject }) => `warned that ${subject} has spent ${spent(details)}`,
  'company.budget_warning': ({ details }) => `warned that the company has spent ${spent(details)}`,
  'agent.costs_unpriced': ({ subject }) => `found costs of ${subject} without a known price`,
  'agent.heartbeat_skipped': ({ subject }) => `skipped a timer run of ${subject}, since nothing had changed`,
  'company.paused': ({ details }) => `paused the company${details.reason === 'budget' ? ': its budget is spent' : ''}`,
  'company.stopped': ({ details }) => `stopped the company${details.reason ? `: ${oneLine(details.reason)}` : ''}`,
  'company.frozen': ({ details }) => `froze all runs${details.reason ? `: ${oneLine(details.reason)}` : ''}`,
  'company.unfrozen': () => 'ended the freeze of all runs',
  'company.thawed': () => 'ended the stop of the company',
  'company.imported': ({ details }) => `imported the package ${quoted(details.package ?? '')}`,
  'company.invited': () => 'invited a person',
  'company.invitation_revoked': () => 'revoked the invitation of a person',
  'company.member_joined': () => 'joined the company',
  'company.member_role_changed': ({ details }) => `changed the role of a member from ${details.from} to ${details.to}`,
  'company.member_left': () => 'left the company',
  'company.member_removed': () => 'removed a member',
  'approval.created': ({ details }) =>
    `asked for ${details.title ? quoted(details.title) : (APPROVALS[details.type as keyof typeof APPROVALS] ?? 'an approval')}`,
  'approval.approved': decisionSentence('approved'),
  'approval.rejected': decisionSentence('rejected'),
  'approval.revision_requested': decisionSentence('asked for a revision of'),
  'approval.resubmitted': ({ details }) => `submitted ${aboutOf(details)} again`,
  'approval.cancelled': ({ details }) => `withdrew ${aboutOf(details)}`,
  'approval.commented': () => 'commented on an approval',
  'cost.reported': ({ details }) =>
    `reported a cost${typeof details.costCents === 'number' ? ` of ${dollars(details.costCents)}` : ' without a price'}`,
  'routine.fired': ({ details, subject }) => `created ${details.identifier ?? 'an issue'} for ${subject}`,
  'asset.created': ({ details }) => `uploaded the file ${oneLine(details.fileName ?? '')}`,
  'invite.created': () => 'invited an outside agent',
  'invite.accepted': () => 'accepted the invitation of an outside agent',
  'invite.revoked': () => 'revoked the invitation of an outside agent',
}

function documentSentence(verb: string, preposition: string) {
  return ({ details, subject }: Facts) => `${verb} the document ${oneLine(details.key ?? '')} ${preposition} ${subject}`
}

function decisionSentence(verb: string) {
  return ({ details }: Facts) => {
    const choice = details.chosenOption ? `, choosing ${quoted(details.chosenOption)}` : ''
    return `${verb} ${aboutOf(details)}${choice}${details.decisionNote ? `: ${quoted(details.decisionNote)}` : ''}`
  }
}

/** What an approval is about, after a verb. */
const APPROVALS = {
  hire_agent: 'a hire',
  approve_ceo_strategy: 'the strategy',
  request_board_approval: 'a request',
  allow_folder: 'a request for a folder',
} as const

const aboutOf = ({ type }: Details) => APPROVALS[type as keyof typeof APPROVALS] ?? 'an approval'

const budget = (cents: number) => (cents === 0 ? 'no limit' : `${dollars(cents)} a month`)

const spent = (details: Details) =>
  `${dollars(details.spentMonthlyCents)} of its budget of ${dollars(details.budgetMonthlyCents)} this month`

function changesOf(identifier: string, changes: Details, names: Names): string {
  const { status, assigneeAgentId, assigneeUserId, ...others } = changes
  const parts: string[] = []
  if (status) parts.push(`set ${identifier} from ${wordsOf(status.from)} to ${wordsOf(status.to)}`)
  if (assigneeAgentId?.to) parts.push(`gave ${identifier} to ${names.agent(assigneeAgentId.to)}`)
  else if (assigneeUserId?.to) parts.push(`gave ${identifier} to ${names.user(assigneeUserId.to)}`)
  else if (assigneeAgentId) parts.push(`took ${identifier} from ${names.agent(assigneeAgentId.from)}`)
  else if (assigneeUserId) parts.push(`took ${identifier} from ${names.user(assigneeUserId.from)}`)
  const fields = Object.keys(others).map((field) => FIELDS[field] ?? wordsOf(field.replace(/Ids?$/, '')))
  if (fields.length > 0) parts.push(`changed the ${fields.join(', ')} of ${identifier}`)
  return parts.join(' and ') || `changed ${identifier}`
}

/** The names of fields that are not words. */
const FIELDS: Record<string, string> = {
  blockedByIssueIds: 'blockers',
  labelIds: 'labels',
  billingCode: 'billing code',
}
