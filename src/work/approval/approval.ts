import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { redact } from '../../access/redaction/redact.ts'
import * as field from '../../http/fields.ts'
import type { ApprovalCommentTable, ApprovalTable } from '../../platform/database/tables.ts'
import { AUTHORED, commentText, toAuthored } from '../comment/authored.ts'
import { APPROVAL_STATUSES } from './lifecycle.ts'

export const APPROVAL_TYPES = ['hire_agent', 'approve_ceo_strategy'] as const

export type ApprovalRow = Selectable<ApprovalTable>
export type ApprovalCommentRow = Selectable<ApprovalCommentTable>

/** An approval as the API shows it: what looks like a secret in its payload is not shown. */
export const Approval = v.strictObject({
  id: field.id,
  companyId: field.id,
  type: v.picklist(APPROVAL_TYPES),
  status: v.picklist(APPROVAL_STATUSES),
  requestedByAgentId: v.nullable(field.id),
  requestedByUserId: v.nullable(v.string()),
  agentId: v.pipe(v.nullable(field.id), v.description('The agent that a hire is about.')),
  payload: field.jsonObject,
  decisionNote: v.nullable(v.string()),
  decidedByUserId: v.nullable(v.string()),
  decidedAt: v.nullable(field.timestamp),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Approval = v.InferOutput<typeof Approval>

export const NewApproval = v.strictObject({
  type: v.picklist(APPROVAL_TYPES),
  requestedByAgentId: v.optional(v.nullable(field.reference)),
  payload: v.optional(
    v.pipe(
      field.jsonObject,
      v.description('Free-form. A strategy has its `plan`; a hire may name the pending agent in `agentId`.'),
    ),
    {},
  ),
  issueIds: v.optional(v.pipe(v.array(field.reference), v.maxLength(100, 'must be at most 100 issues'))),
})
export type NewApproval = v.InferOutput<typeof NewApproval>

/** The body of a decision. */
export const Decision = v.strictObject({
  decisionNote: v.optional(v.nullable(field.text)),
})
export type Decision = v.InferOutput<typeof Decision>

export const Resubmission = v.strictObject({
  payload: v.optional(field.jsonObject),
})

export const toApproval = (row: ApprovalRow): Approval => ({
  id: row.id,
  companyId: row.company_id,
  type: row.type,
  status: row.status,
  requestedByAgentId: row.requested_by_agent_id,
  requestedByUserId: row.requested_by_user_id,
  agentId: row.agent_id,
  payload: redact(JSON.parse(row.payload)),
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

/** An issue that an approval is about, in short. */
export const LinkedIssue = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  status: v.string(),
  priority: v.string(),
  assigneeAgentId: v.nullable(field.id),
})
