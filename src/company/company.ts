import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { toCents } from '../cost/money.ts'
import type { CompanyTable } from '../database/tables.ts'
import * as field from '../http/fields.ts'

export const COMPANY_STATUSES = ['active', 'paused', 'archived'] as const

export type CompanyRow = Selectable<CompanyTable>

/** A company as the API shows it. */
export const Company = v.strictObject({
  id: field.id,
  name: v.string(),
  description: v.nullable(v.string()),
  status: v.picklist(COMPANY_STATUSES),
  pauseReason: v.nullable(v.picklist(['manual', 'budget'])),
  pausedAt: v.nullable(field.timestamp),
  issuePrefix: v.string(),
  issueCounter: v.number(),
  budgetMonthlyCents: v.number(),
  spentMonthlyCents: v.number(),
  requireBoardApprovalForNewAgents: v.boolean(),
  brandColor: v.nullable(v.string()),
  logoAssetId: v.nullable(field.id),
  logoUrl: v.nullable(v.string()),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Company = v.InferOutput<typeof Company>

/** The body of a creation. The issue prefix is derived from the name and final. */
export const NewCompany = v.strictObject({
  name: field.name,
  description: v.optional(v.nullable(field.text)),
  brandColor: v.optional(v.nullable(field.color)),
  budgetMonthlyCents: v.optional(field.cents),
  requireBoardApprovalForNewAgents: v.optional(v.boolean()),
})
export type NewCompany = v.InferOutput<typeof NewCompany>

/** @param spentMicros what was spent in the current month */
export function toCompany(row: CompanyRow & { spent_micros: number }): Company {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    pauseReason: row.pause_reason,
    pausedAt: row.paused_at,
    issuePrefix: row.issue_prefix,
    issueCounter: row.issue_counter,
    budgetMonthlyCents: toCents(row.budget_micros),
    spentMonthlyCents: toCents(row.spent_micros),
    requireBoardApprovalForNewAgents: row.require_board_approval_for_new_agents === 1,
    brandColor: row.brand_color,
    logoAssetId: row.logo_asset_id,
    logoUrl: row.logo_asset_id ? `/api/assets/${row.logo_asset_id}` : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
