import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { difference, fieldNames } from '../../platform/difference.ts'
import { AppError, forbidden, unknownReference, unprocessable } from '../../platform/errors.ts'
import { findAsset } from '../asset/queries.ts'
import { toMicros } from '../cost/money.ts'
import { requestStops } from '../run/stop.ts'
import { applyBudget, correctSpend } from './budget.ts'
import { BOARD_ONLY, type CompanyChange, type CompanyRow } from './company.ts'
import { findCompany, findCompanyWithSpend, updateCompany } from './queries.ts'

/**
 * Changes a company. The CEO agent may change its name and appearance; a
 * request of the CEO agent with any other field is refused.
 */
export function changeCompany(ctx: Context, caller: Caller, companyId: string, want: CompanyChange) {
  assertMayChangeFields(caller, want)
  const company = findCompany(ctx.db, { id: companyId })!
  const status = want.status ?? company.status
  if (company.status === 'archived' && status === 'archived' && Object.keys(want).some((field) => field !== 'status')) {
    throw new AppError('semantic', 'This company is archived and read-only. Set its status to active first.')
  }
  if (want.logoAssetId) assertIsImage(ctx, companyId, want.logoAssetId)
  const change = difference(company, {
    name: want.name,
    description: want.description,
    brand_color: want.brandColor,
    logo_asset_id: want.logoAssetId,
    budget_micros: want.budgetMonthlyCents === undefined ? undefined : toMicros(want.budgetMonthlyCents),
    require_board_approval_for_new_agents:
      want.requireBoardApprovalForNewAgents === undefined ? undefined : want.requireBoardApprovalForNewAgents ? 1 : 0,
    trust_hires: want.trustHires === undefined ? undefined : want.trustHires ? 1 : 0,
    run_mcp: want.runMcp == null ? want.runMcp : want.runMcp ? 1 : 0,
    allowed_folders: want.allowedFolders && JSON.stringify([...new Set(want.allowedFolders)]),
    ...statusColumns(ctx, company, want.status),
  })
  const corrected = want.spentMonthlyCents !== undefined && correctSpend(ctx, companyId, want.spentMonthlyCents)
  if (change) updateCompany(ctx.db, companyId, { ...change, updated_at: ctx.now })
  if (change || corrected) record(ctx, caller, companyId, change ?? {}, want)
  // Waiting wakes remain: the scheduler claims none until the company is active again.
  if (change?.status && change.status !== 'active') requestStops(ctx, { companyId }, 'paused')
  if (change?.status || change?.budget_micros !== undefined || corrected) applyBudget(ctx, companyId)
  return findCompanyWithSpend(ctx.db, { id: companyId, now: ctx.now })!
}

function assertMayChangeFields(caller: Caller, want: CompanyChange): void {
  const refused = Object.keys(want).filter((field) => BOARD_ONLY.includes(field))
  if (caller.type !== 'agent' || refused.length === 0) return
  throw forbidden(`Only the board may change ${refused.join(', ')}. Nothing was changed.`, { fields: refused })
}

function assertIsImage(ctx: Context, companyId: string, assetId: string): void {
  const asset = findAsset(ctx.db, { id: assetId })
  if (asset?.company_id !== companyId) throw unknownReference('logoAssetId', 'asset')
  if (!asset.content_type.startsWith('image/')) throw unprocessable('logoAssetId', 'is not an image')
}

/**
 * Returns a status with the columns that depend on it. Pausing a company that
 * its budget paused makes it a manual pause.
 */
function statusColumns(ctx: Context, company: CompanyRow, status: CompanyRow['status'] | undefined) {
  if (status === undefined || (status === company.status && company.pause_reason !== 'budget')) return {}
  if (status !== 'paused') return { status, pause_reason: null, paused_at: null }
  return { status, pause_reason: 'manual' as const, paused_at: company.paused_at ?? ctx.now }
}

const ACTIONS = { active: 'company.resumed', paused: 'company.paused', archived: 'company.archived' } as const

function record(ctx: Context, caller: Caller, companyId: string, change: Partial<CompanyRow>, want: CompanyChange) {
  recordActivity(ctx, caller, {
    companyId,
    action: change.status ? ACTIONS[change.status] : 'company.updated',
    entity: { type: 'company', id: companyId },
    details: {
      changed: fieldNames(change).map((field) => field.replace('budgetMicros', 'budgetMonthlyCents')),
      ...(want.budgetMonthlyCents !== undefined && { budgetMonthlyCents: want.budgetMonthlyCents }),
      ...(want.spentMonthlyCents !== undefined && { spentMonthlyCents: want.spentMonthlyCents }),
      ...(change.allowed_folders && { allowedFolders: JSON.parse(change.allowed_folders) }),
      ...(change.trust_hires !== undefined && { trustHires: change.trust_hires === 1 }),
    },
  })
}
