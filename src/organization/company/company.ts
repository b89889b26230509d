import path from 'node:path'
import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { CompanyTable } from '../../platform/database/tables.ts'
import { toCents } from '../cost/money.ts'

const COMPANY_STATUSES = ['active', 'paused', 'archived'] as const

export type CompanyRow = Selectable<CompanyTable>

/** A company as the API returns it. */
export const Company = v.strictObject({
  id: field.id,
  name: v.string(),
  description: v.nullable(v.string()),
  status: v.picklist(COMPANY_STATUSES),
  pauseReason: v.nullable(v.picklist(['manual', 'budget'])),
  pausedAt: v.nullable(field.timestamp),
  stoppedAt: v.pipe(
    v.nullable(field.timestamp),
    v.description('The time of the emergency stop. Null if the company is not stopped.'),
  ),
  issuePrefix: v.string(),
  issueCounter: field.integer,
  budgetMonthlyCents: field.integer,
  spentMonthlyCents: v.number(),
  requireBoardApprovalForNewAgents: v.boolean(),
  trustHires: v.boolean(),
  runMcp: v.nullable(v.boolean()),
  allowedFolders: v.array(v.string()),
  brandColor: v.nullable(v.string()),
  logoAssetId: v.nullable(field.id),
  logoUrl: v.nullable(v.string()),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Company = v.InferOutput<typeof Company>

/** The body of a creation. The issue prefix is derived from the name and never changes. */
export const NewCompany = v.strictObject({
  name: v.pipe(field.name, v.examples(['Tern & Co'])),
  description: v.optional(v.nullable(field.text)),
  brandColor: v.optional(v.nullable(field.color)),
  budgetMonthlyCents: v.optional(field.cents),
  requireBoardApprovalForNewAgents: v.optional(v.boolean()),
})
export type NewCompany = v.InferOutput<typeof NewCompany>

const branding = {
  name: v.optional(v.pipe(field.name, v.examples(['Tern & Co']))),
  description: v.optional(v.nullable(field.text)),
  brandColor: v.optional(v.nullable(field.color)),
  logoAssetId: v.optional(v.pipe(v.nullable(field.reference), v.description('The id of an uploaded logo.'))),
}

/** The fields that the CEO agent may change in its company, as the board may. */
export const BrandingChange = v.strictObject(branding)

const boardOnly = {
  status: v.optional(v.picklist(COMPANY_STATUSES)),
  budgetMonthlyCents: v.optional(v.pipe(field.cents, v.description('0 is no limit.'))),
  spentMonthlyCents: v.optional(
    v.pipe(
      field.cents,
      v.description('The spend of this month. The server records the difference as a correcting cost event.'),
    ),
  ),
  requireBoardApprovalForNewAgents: v.optional(v.boolean()),
  trustHires: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether the configuration of an agent that an agent hires counts as approved by the board. It applies to later hires.',
      ),
    ),
  ),
  runMcp: v.optional(v.nullable(v.boolean())),
  allowedFolders: v.optional(
    v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.maxLength(4_096, 'must be at most 4,096 characters'),
          v.check(
            (folder) => path.isAbsolute(folder) && !/\p{Cc}/u.test(folder),
            'must be an absolute path, on one line',
          ),
        ),
      ),
      v.maxLength(100, 'must be at most 100 folders'),
      v.description(
        "Folders of this machine in which the server uses the paths that agents set: cwd, instructionsFilePath and the cwd of workspaces. The server's data directory is never among them.",
      ),
    ),
  ),
}

/** The fields that no agent may set, not even the CEO. */
export const BOARD_ONLY = Object.keys(boardOnly)

export const CompanyChange = v.strictObject({
  ...branding,
  ...boardOnly,
  issuePrefix: v.optional(v.never('is immutable: the identifiers of issues are built from it')),
})
export type CompanyChange = v.InferOutput<typeof CompanyChange>

export const BudgetChange = v.strictObject({
  budgetMonthlyCents: v.pipe(field.cents, v.description('0 is no limit.')),
})

/** @param spentMicros the spend of the current month */
export function toCompany(row: CompanyRow & { spent_micros: number }): Company {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    pauseReason: row.pause_reason,
    pausedAt: row.paused_at,
    stoppedAt: row.stopped_at,
    issuePrefix: row.issue_prefix,
    issueCounter: row.issue_counter,
    budgetMonthlyCents: toCents(row.budget_micros),
    spentMonthlyCents: toCents(row.spent_micros),
    requireBoardApprovalForNewAgents: row.require_board_approval_for_new_agents === 1,
    trustHires: row.trust_hires === 1,
    runMcp: row.run_mcp === null ? null : row.run_mcp === 1,
    allowedFolders: JSON.parse(row.allowed_folders),
    brandColor: row.brand_color,
    logoAssetId: row.logo_asset_id,
    logoUrl: row.logo_asset_id ? `/api/assets/${row.logo_asset_id}` : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
