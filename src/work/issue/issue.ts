import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { IssueTable } from '../../platform/database/tables.ts'
import { commentBody, NewComment } from '../comment/comment.ts'
import { Label, type LabelRow, toLabel } from '../label/label.ts'
import { ISSUE_STATUSES } from './lifecycle.ts'

/** Most urgent first, as lists are sorted. */
export const PRIORITIES = ['critical', 'high', 'medium', 'low'] as const

export type IssueRow = Selectable<IssueTable>

/** Columns of an issue to set. */
export type IssueColumns = Partial<Omit<IssueRow, 'seq' | 'priority_rank'>>

const status = v.picklist(ISSUE_STATUSES)
const priority = v.picklist(PRIORITIES)

/** The summary of an issue in references from other entities. */
export const IssueReference = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  status,
  priority,
  assigneeAgentId: v.nullable(field.id),
})

/** An issue as the API returns it. */
export const Issue = v.strictObject({
  id: field.id,
  companyId: field.id,
  identifier: v.string(),
  issueNumber: field.integer,
  title: v.string(),
  description: v.nullable(v.string()),
  status,
  priority,
  assigneeAgentId: v.nullable(field.id),
  assigneeUserId: v.nullable(v.string()),
  parentId: v.nullable(field.id),
  projectId: v.nullable(field.id),
  goalId: v.nullable(field.id),
  labelIds: v.array(field.id),
  labels: v.array(Label),
  blockedBy: v.pipe(v.array(IssueReference), v.description('The issues that block this one.')),
  blocks: v.pipe(v.array(IssueReference), v.description('The issues that this one blocks.')),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  requestDepth: v.pipe(field.integer, v.description('How many issues are above it.')),
  billingCode: v.nullable(v.string()),
  startedAt: v.nullable(field.timestamp),
  completedAt: v.nullable(field.timestamp),
  cancelledAt: v.nullable(field.timestamp),
  started_at: v.pipe(v.nullable(field.timestamp), v.description('The same as `startedAt`.')),
  completed_at: v.pipe(v.nullable(field.timestamp), v.description('The same as `completedAt`.')),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
  unread: v.pipe(
    v.boolean(),
    v.description('Whether somebody else did something on it since the calling person read it. False for agents.'),
  ),
})
export type Issue = v.InferOutput<typeof Issue>

const assigneeAgentId = v.pipe(
  v.nullable(field.reference),
  v.description('An agent of the company that is neither terminated nor pending approval.'),
)
const assigneeUserId = v.pipe(
  v.nullable(field.reference),
  v.description('A person, instead of an agent: a member of the company, or `me`.'),
)
const references = v.pipe(v.array(field.reference), v.maxLength(100, 'must be at most 100'))

/** The common fields of creations and changes. */
const common = {
  description: v.optional(v.nullable(field.text)),
  status: v.optional(status),
  priority: v.optional(priority),
  assigneeAgentId: v.optional(assigneeAgentId),
  assigneeUserId: v.optional(assigneeUserId),
  projectId: v.optional(v.nullable(field.reference)),
  goalId: v.optional(v.nullable(field.reference)),
  labelIds: v.optional(references),
  blockedByIssueIds: v.optional(v.pipe(references, v.description('All issues that block this one.'))),
  billingCode: v.optional(v.nullable(field.name)),
}
const parentId = v.optional(v.nullable(field.reference))

/** Fields that clients of similar APIs always send. Their neutral value is accepted, and any other is refused. */
const neutral = {
  workMode: v.optional(v.literal('standard')),
  requestDepth: v.optional(v.literal(0)),
  allowDuplicate: v.optional(v.literal(false)),
  blockParentUntilDone: v.optional(v.literal(false)),
}

/** The body of a child's creation. The path names its parent. */
export const NewChild = v.strictObject({ title: field.name, ...common, ...neutral })

/** The body of a creation. `projectId` and `goalId` default to the parent's. */
export const NewIssue = v.strictObject({ title: field.name, ...common, ...neutral, parentId })
export type NewIssue = v.InferOutput<typeof NewIssue>

export const IssueChange = v.strictObject({
  title: v.optional(field.name),
  ...common,
  parentId,
  reopen: NewComment.entries.reopen,
  resume: NewComment.entries.resume,
  workMode: neutral.workMode,
  comment: v.optional(commentBody),
})
export type IssueChange = v.InferOutput<typeof IssueChange>

export const CheckoutBody = v.strictObject({
  agentId: v.optional(v.pipe(field.reference, v.description('Default: the calling agent. The board must name one.'))),
  expectedStatuses: v.optional(
    v.pipe(
      v.array(status),
      v.minLength(1, 'must name a status'),
      v.description(
        'The statuses from which the issue may be checked out. Default: todo, in_review, blocked. An issue in `backlog` passes through todo.',
      ),
    ),
  ),
})
export type CheckoutBody = v.InferOutput<typeof CheckoutBody>

/** The response to a forced release: the issue, and its previous assignee. */
export const ForcedRelease = v.strictObject({
  issue: Issue,
  previous: v.strictObject({
    status,
    assigneeAgentId: v.nullable(field.id),
    assigneeUserId: v.nullable(v.string()),
    runId: v.pipe(v.nullable(field.id), v.description("The assignee's live run on the issue at that time.")),
  }),
})

/** The body of a close. */
export const CloseBody = v.strictObject({ comment: v.optional(commentBody) })

type ReferenceRow = Pick<IssueRow, 'id' | 'identifier' | 'title' | 'status' | 'priority' | 'assignee_agent_id'>

/** The records around an issue that a response includes. */
export interface Relations {
  labels: Pick<LabelRow, 'id' | 'company_id' | 'name' | 'color'>[]
  blockedBy: ReferenceRow[]
  blocks: ReferenceRow[]
}

/** What a response includes besides the columns of an issue. */
interface Shown extends Relations {
  unread: boolean
}

export function toIssue(row: IssueRow, displayed: Shown): Issue {
  const labels = displayed.labels.map(toLabel)
  return {
    id: row.id,
    companyId: row.company_id,
    identifier: row.identifier,
    issueNumber: row.issue_number,
    title: row.title,
    description: row.description,
    status: row.status,
    priority: row.priority,
    assigneeAgentId: row.assignee_agent_id,
    assigneeUserId: row.assignee_user_id,
    parentId: row.parent_id,
    projectId: row.project_id,
    goalId: row.goal_id,
    labelIds: labels.map((label) => label.id),
    labels,
    blockedBy: displayed.blockedBy.map(toReference),
    blocks: displayed.blocks.map(toReference),
    createdByAgentId: row.created_by_agent_id,
    createdByUserId: row.created_by_user_id,
    requestDepth: row.request_depth,
    billingCode: row.billing_code,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    cancelledAt: row.cancelled_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    unread: displayed.unread,
  }
}

export const toReference = (row: ReferenceRow): v.InferOutput<typeof IssueReference> => ({
  id: row.id,
  identifier: row.identifier,
  title: row.title,
  status: row.status,
  priority: row.priority,
  assigneeAgentId: row.assignee_agent_id,
})
