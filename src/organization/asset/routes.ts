import * as v from 'valibot'
import { agent, board, ceo } from '../../access/who.ts'
import { reply, route } from '../../http/route.ts'
import { FORM_OVERHEAD, Upload } from '../../http/upload.ts'
import { getIssue } from '../../work/issue/get.ts'
import { Asset, type AssetRow, ATTACHMENT_LIMIT, Attachment, LOGO_LIMIT, toAsset, toAttachment } from './asset.ts'
import { isImage } from './content-type.ts'
import { listAttachments } from './queries.ts'
import { attachFile, readAsset, removeAttachment, uploadLogo } from './upload.ts'

export const assetRoutes = [
  route({
    id: 'companies.uploadLogo',
    method: 'POST',
    path: '/api/companies/:companyId/logo',
    summary: 'Upload an image to be the logo of a company',
    description: 'PNG, JPEG, GIF, WebP or SVG, at most 5 MB. Then PATCH the company with `logoAssetId`.',
    who: [board, ceo],
    upload: true,
    body: Upload,
    bodyLimit: LOGO_LIMIT + FORM_OVERHEAD,
    responses: { 201: Asset },
    run: async (ctx, { caller, params, body }) => toAsset(await uploadLogo(ctx, caller, params.companyId, body.file)),
  }),
  route({
    id: 'assets.get',
    method: 'GET',
    path: '/api/assets/:assetId',
    summary: "Get an uploaded file's content",
    who: [board, agent],
    responses: { 200: '*/*', 304: null },
    run: async (ctx, { caller, params, header }) => {
      const { asset, content } = await readAsset(ctx, caller, params.assetId)
      const headers = headersOf(asset)
      if (header('if-none-match')?.includes(headers.etag!)) return reply(304, null, headers)
      return reply(200, content, headers)
    },
  }),
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
    description: 'For the board and the agent that attached it.',
    who: [board, agent],
    responses: { 200: Attachment },
    run: async (ctx, { caller, params }) => toAttachment(await removeAttachment(ctx, caller, params.attachmentId)),
  }),
]

/**
 * An uploaded file is of this server's own origin to a browser, so nothing in
 * it may run: an SVG is sandboxed, and what is no image is only downloaded.
 */
function headersOf(asset: AssetRow): Record<string, string> {
  const disposition = isImage(asset.content_type) ? 'inline' : 'attachment'
  const name = encodeURIComponent(asset.file_name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return {
    'content-type': asset.content_type,
    'content-disposition': `${disposition}; filename*=UTF-8''${name}`,
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
    // Its content never changes: another file is another asset.
    'cache-control': 'private, max-age=31536000, immutable',
    etag: `"${asset.sha256}"`,
  }
}
