import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, listOf, readPage } from '../../http/list.ts'
import { getIssue } from '../issue/get.ts'
import {
  APPROVAL_TYPES,
  Approval,
  ApprovalComment,
  Decision,
  LinkedIssue,
  NewApproval,
  NewApprovalComment,
  Resubmission,
  showApproval,
  toApproval,
  toApprovalComment,
} from './approval.ts'
import { commentOnApproval } from './comments.ts'
import { createApproval } from './create.ts'
import { cancelApproval, decideApproval, getApproval, resubmitApproval } from './decide.ts'
import { APPROVAL_STATUSES } from './lifecycle.ts'
import { linkApproval, listApprovalsOfIssue, listLinkedIssues, unlinkApproval } from './links.ts'
import { selectApprovalComments, selectApprovals } from './queries.ts'

/** Creates the route of one decision of the board. */
const decision = <const Verb extends string>(
  verb: Verb,
  to: 'approved' | 'rejected' | 'revision_requested',
  summary: string,
) =>
  route({
    id: `approvals.${verb}` as const,
    method: 'POST',
    path: `/api/approvals/:approvalId/${verb}` as const,
    summary,
    who: [board],
    body: Decision,
    bodyOptional: true,
    responses: { 200: Approval },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toApproval(decideApproval(ctx, caller, (params as { approvalId: string }).approvalId, to, body))),
  })

export const approvalRoutes = [
  route({
    id: 'approvals.list',
    method: 'GET',
    path: '/api/companies/:companyId/approvals',
    summary: "List a company's approvals, newest first",
    who: [board, agent],
    query: v.object({
      ...LIST_QUERY,
      status: v.optional(listOf(APPROVAL_STATUSES)),
      type: v.optional(listOf(APPROVAL_TYPES)),
    }),
    responses: { 200: v.array(Approval) },
    run: (ctx, { caller, params, query }) => {
      const approvals = selectApprovals({ companyId: params.companyId, statuses: query.status, types: query.type })
      const page = readPage(ctx.db, approvals, query, { by: 'id', direction: 'desc' })
      return page.map((row) => showApproval(ctx, caller, row))
    },
  }),
  route({
    id: 'approvals.create',
    method: 'POST',
    path: '/api/companies/:companyId/approvals',
    summary: 'Request an approval of the board',
    description:
      'An agent requests approvals for itself: the CEO for its strategy, managers for a hire, any agent for a decision (`request_board_approval`).',
    who: [board, agent],
    body: NewApproval,
    responses: { 201: Approval },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toApproval(createApproval(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'approvals.get',
    method: 'GET',
    path: '/api/approvals/:approvalId',
    summary: 'Get an approval',
    who: [board, agent],
    responses: { 200: Approval },
    run: (ctx, { caller, params }) => showApproval(ctx, caller, getApproval(ctx, caller, params.approvalId)),
  }),
  route({
    id: 'approvals.issues',
    method: 'GET',
    path: '/api/approvals/:approvalId/issues',
    summary: 'List the issues that are linked to an approval',
    who: [board, agent],
    responses: { 200: v.array(LinkedIssue) },
    run: (ctx, { caller, params }) =>
      listLinkedIssues(ctx.db, { approvalId: getApproval(ctx, caller, params.approvalId).id }),
  }),
  route({
    id: 'approvals.comments',
    method: 'GET',
    path: '/api/approvals/:approvalId/comments',
    summary: "List an approval's comments, oldest first",
    who: [board, agent],
    query: v.object({ ...LIST_QUERY, order: v.optional(v.picklist(['asc', 'desc']), 'asc') }),
    responses: { 200: v.array(ApprovalComment) },
    run: (ctx, { caller, params, query }) => {
      const comments = selectApprovalComments({ approvalId: getApproval(ctx, caller, params.approvalId).id })
      return readPage(ctx.db, comments, query, { by: 'id', direction: query.order }).map(toApprovalComment)
    },
  }),
  route({
    id: 'approvals.comment',
    method: 'POST',
    path: '/api/approvals/:approvalId/comments',
    summary: 'Comment on an approval',
    who: [board, agent],
    role: 'member',
    body: NewApprovalComment,
    responses: { 201: ApprovalComment },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const approval = getApproval(ctx, caller, params.approvalId)
        return toApprovalComment(commentOnApproval(ctx, caller, approval, body.body))
      }),
  }),
  decision('approve', 'approved', 'Approve. The agent of a hire may then work'),
  decision('reject', 'rejected', 'Reject. The agent of a hire is terminated'),
  decision('request-revision', 'revision_requested', 'Request a revision'),
  route({
    id: 'approvals.resubmit',
    method: 'POST',
    path: '/api/approvals/:approvalId/resubmit',
    summary: 'Submit a revised approval again',
    description: 'For the requesting agent and the board. The payload replaces the previous one.',
    who: [board, agent],
    body: Resubmission,
    bodyOptional: true,
    responses: { 200: Approval },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toApproval(resubmitApproval(ctx, caller, params.approvalId, body.payload))),
  }),
  route({
    id: 'approvals.cancel',
    method: 'POST',
    path: '/api/approvals/:approvalId/cancel',
    summary: 'Cancel an approval',
    description: 'For the agent that asked, and the board.',
    who: [board, agent],
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: Approval },
    run: (ctx, { caller, params }) => ctx.write(() => toApproval(cancelApproval(ctx, caller, params.approvalId))),
  }),
]

export const issueApprovalRoutes = [
  route({
    id: 'issues.approvals',
    method: 'GET',
    path: '/api/issues/:issueId/approvals',
    summary: 'List the approvals that an issue is linked to',
    who: [board, agent],
    responses: { 200: v.array(Approval) },
    run: (ctx, { caller, params }) =>
      listApprovalsOfIssue(ctx.db, { issueId: getIssue(ctx, caller, params.issueId).id }).map((row) =>
        showApproval(ctx, caller, row),
      ),
  }),
  route({
    id: 'issues.linkApproval',
    method: 'POST',
    path: '/api/issues/:issueId/approvals',
    summary: 'Link an approval to an issue',
    who: [board, agent],
    role: 'member',
    body: v.strictObject({ approvalId: field.reference }),
    responses: { 201: Approval },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toApproval(linkApproval(ctx, caller, getIssue(ctx, caller, params.issueId), body.approvalId))),
  }),
  route({
    id: 'issues.unlinkApproval',
    method: 'DELETE',
    path: '/api/issues/:issueId/approvals/:approvalId',
    summary: 'Unlink an approval from an issue',
    who: [board, agent],
    role: 'member',
    responses: { 200: v.strictObject({ ok: v.literal(true) }) },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        unlinkApproval(ctx, caller, getIssue(ctx, caller, params.issueId), params.approvalId)
        return { ok: true }
      }),
  }),
]
