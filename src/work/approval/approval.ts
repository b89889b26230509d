import type { Selectable } from 'kysely'
import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { includesRole } from '../../access/caller/role.ts'
import { redact } from '../../access/redaction/redact.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import type { ApprovalCommentTable, ApprovalTable } from '../../platform/database/tables.ts'
import { AUTHORED, commentText, toAuthored } from '../comment/authored.ts'
import { reviewPayload } from './hire-payload.ts'
import { APPROVAL_STATUSES } from './lifecycle.ts'

export const APPROVAL_TYPES = ['hire_agent', 'approve_ceo_strategy', 'request_board_approval', 'allow_folder'] as const

/** The types that a caller may create; the server creates the others. */
const REQUESTED_TYPES = ['hire_agent', 'approve_ceo_strategy', 'request_board_approval'] as const

export type ApprovalRow = Selectable<ApprovalTable>
export type ApprovalCommentRow = Selectable<ApprovalCommentTable>

/** An approval as the API returns it. Its payload contains no recognizable secrets. */
export const Approval = v.strictObject({
  id: field.id,
  companyId: field.id,
  type: v.picklist(APPROVAL_TYPES),
  status: v.picklist(APPROVAL_STATUSES),
  requestedByAgentId: v.nullable(field.id),
  requestedByUserId: v.nullable(v.string()),
  agentId: v.pipe(v.nullable(field.id), v.description('The agent of a hire, or the agent that needs the folder.')),
  payload: field.jsonObject,
  chosenOption: v.pipe(
    v.nullable(v.string()),
    v.description('The option that the board chose, for an approved request_board_approval with options.'),
  ),
  decisionNote: v.nullable(v.string()),
  decidedByUserId: v.nullable(v.string()),
  decidedAt: v.nullable(field.timestamp),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Approval = v.InferOutput<typeof Approval>

export const NewApproval = v.strictObject({
  type: v.picklist(REQUESTED_TYPES),
  requestedByAgentId: v.optional(v.nullable(field.reference)),
  payload: v.optional(
    v.pipe(
      field.sentObject,
      v.description(
        'The content, by type. A strategy has a `plan`. A hire may name the pending agent in `agentId`. A request_board_approval has a `title`, and optionally `question`, `options` (texts) and `recommended` (one of them).',
      ),
    ),
    {},
  ),
  issueIds: v.optional(v.pipe(v.array(field.reference), v.maxLength(100, 'must be at most 100 issues'))),
})
export type NewApproval = v.InferOutput<typeof NewApproval>

/** The body of a decision. */
export const Decision = v.strictObject({
  decisionNote: v.optional(v.nullable(field.text)),
  option: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description('For the approval of a request_board_approval: one of its options. Default: the recommended one.'),
    ),
  ),
  allow: v.optional(
    v.pipe(
      v.picklist(['once', 'always']),
      v.description(
        'For the approval of an allow_folder: whether to allow the folder for the next run of the agent (default), or for the company, which adds it to allowedFolders.',
      ),
    ),
  ),
})
export type Decision = v.InferOutput<typeof Decision>

export const Resubmission = v.strictObject({
  payload: v.optional(field.sentObject),
})

/**
 * Returns an approval for a response: callers who may decide see every value
 * of a hire that will run. The responses to changes do not show these values,
 * because idempotent requests store their responses.
 */
export const showApproval = (ctx: Context, caller: Caller, row: ApprovalRow): Approval => {
  if (row.agent_id === null || row.type !== 'hire_agent' || !mayDecide(caller, row.company_id)) return toApproval(row)
  const { agent_id, company_id } = row
  return { ...toApproval(row), payload: reviewPayload(ctx, { agent_id, company_id }, JSON.parse(row.payload)) }
}

const mayDecide = (caller: Caller, companyId: string) =>
  caller.type === 'board' && (caller.roles === null || includesRole(caller.roles.get(companyId) ?? 'viewer', 'admin'))

export const toApproval = (row: ApprovalRow): Approval => ({
  id: row.id,
  companyId: row.company_id,
  type: row.type,
  status: row.status,
  requestedByAgentId: row.requested_by_agent_id,
  requestedByUserId: row.requested_by_user_id,
  agentId: row.agent_id,
  payload: redact(JSON.parse(row.payload)),
  chosenOption: row.chosen_option,
  decisionNote: row.decision_note,
  decidedByUserId: row.decided_by_user_id,
  decidedAt: row.decided_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const ApprovalComment = v.strictObject({
  id: field.id,
  companyId: field.id,
  approvalId: field.id,
  ...AUTHORED,
})

export const NewApprovalComment = v.strictObject({
  body: commentText,
})

export const toApprovalComment = (row: ApprovalCommentRow): v.InferOutput<typeof ApprovalComment> => ({
  id: row.id,
  companyId: row.company_id,
  approvalId: row.approval_id,
  ...toAuthored(row),
})

/** The summary of an issue that an approval is about. */
export const LinkedIssue = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  status: v.string(),
  priority: v.string(),
  assigneeAgentId: v.nullable(field.id),
})
