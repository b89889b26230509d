import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { AssetTable } from '../../platform/database/tables.ts'

export type AssetRow = Selectable<AssetTable>

/** The maximum size of a logo, in bytes. */
export const LOGO_LIMIT = 5 * 1024 * 1024

/** An uploaded file as the API returns it. */
export const Asset = v.strictObject({
  assetId: field.id,
  companyId: field.id,
  fileName: v.string(),
  contentType: v.string(),
  byteSize: field.integer,
  sha256: v.string(),
  url: v.pipe(v.string(), v.description('The URL of the content.')),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  createdAt: field.timestamp,
})

export const toAsset = (row: AssetRow): v.InferOutput<typeof Asset> => ({
  assetId: row.id,
  companyId: row.company_id,
  fileName: row.file_name,
  contentType: row.content_type,
  byteSize: row.bytes,
  sha256: row.sha256,
  url: `/api/assets/${row.id}`,
  createdByAgentId: row.created_by_agent_id,
  createdByUserId: row.created_by_user_id,
  createdAt: row.created_at,
})
