import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { FORM_OVERHEAD, Upload } from '../../http/upload.ts'
import { getIssue } from '../issue/get.ts'
import { attachFile, removeAttachment } from './attach.ts'
import { ATTACHMENT_LIMIT, Attachment, toAttachment } from './attachment.ts'
import { listAttachments } from './queries.ts'

export const attachmentRoutes = [
  route({
    id: 'issues.attachments',
    method: 'GET',
    path: '/api/issues/:issueId/attachments',
    summary: 'List the files on an issue, oldest first',
    who: [board, agent],
    responses: { 200: v.array(Attachment) },
    run: (ctx, { caller, params }) =>
      listAttachments(ctx.db, { issueId: getIssue(ctx, caller, params.issueId).id }).map(toAttachment),
  }),
  route({
    id: 'issues.attach',
    method: 'POST',
    path: '/api/issues/:issueId/attachments',
    summary: 'Attach a file to an issue',
    description: 'Any file, at most 20 MB.',
    who: [board, agent],
    role: 'member',
    upload: true,
    body: Upload,
    bodyLimit: ATTACHMENT_LIMIT + FORM_OVERHEAD,
    responses: { 201: Attachment },
    run: async (ctx, { caller, params, body }) =>
      toAttachment(await attachFile(ctx, caller, params.issueId, body.file)),
  }),
  route({
    id: 'attachments.delete',
    method: 'DELETE',
    path: '/api/attachments/:attachmentId',
    summary: 'Remove a file from its issue',
    description: 'Only for the board and the agent that attached it.',
    who: [board, agent],
    role: 'member',
    responses: { 200: Attachment },
    run: async (ctx, { caller, params }) => toAttachment(await removeAttachment(ctx, caller, params.attachmentId)),
  }),
]
