import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { reply } from '../../http/route.ts'
import { FORM_OVERHEAD, Upload } from '../../http/upload.ts'
import { Asset, type AssetRow, LOGO_LIMIT, toAsset } from './asset.ts'
import { isImage } from './content-type.ts'
import { readAsset, uploadLogo } from './upload.ts'

export const assetRoutes = [
  route({
    id: 'companies.uploadLogo',
    method: 'POST',
    path: '/api/companies/:companyId/logo',
    summary: 'Upload an image for the logo of a company',
    description: 'PNG, JPEG, GIF, WebP or SVG, at most 5 MB. Then set `logoAssetId` with PATCH on the company.',
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
    summary: 'Get the content of an uploaded file',
    who: [board, agent],
    responses: { 200: '*/*', 304: null },
    run: async (ctx, { caller, params, header }) => {
      const { asset, content } = await readAsset(ctx, caller, params.assetId)
      const headers = headersOf(asset)
      if (header('if-none-match')?.includes(headers.etag!)) return reply(304, null, headers)
      return reply(200, content, headers)
    },
  }),
]

/**
 * Returns headers that prevent a browser from running scripts in the file. For
 * a browser, an uploaded file has the origin of this server. Therefore SVGs are
 * sandboxed, and all other files except images are sent as downloads.
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
    // The content of an asset never changes.
    'cache-control': 'private, max-age=31536000, immutable',
    etag: `"${asset.sha256}"`,
  }
}
