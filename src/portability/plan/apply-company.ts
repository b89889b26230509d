import { recordActivity } from '../../access/activity/record.ts'
import { copyMemberships } from '../../access/board/membership-queries.ts'
import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import { changeCompany } from '../../organization/company/change.ts'
import { createCompany } from '../../organization/company/create.ts'
import type { Context } from '../../platform/context.ts'
import { insertPart } from '../company/queries.ts'
import type { CompanyPackage } from '../read/package.ts'
import type { Application } from './application.ts'

/**
 * Returns the company to import into, which it creates if necessary, and the
 * actor of all changes. If an agent creates a company, the actor is the system,
 * because an agent has no permissions in another company. The board then
 * approves each agent before it works.
 */
export function resolveImportTarget(ctx: Context, caller: Caller, { content, target, fromCompanyId }: Application) {
  if (target.companyId !== null) return { companyId: target.companyId, actor: caller }
  const actor: Caller = caller.type === 'agent' ? SYSTEM : caller
  const { description, brandColor, budgetMonthlyCents } = content.company
  const { id: companyId } = createCompany(ctx, actor, {
    name: target.companyName,
    description,
    brandColor,
    budgetMonthlyCents,
    requireBoardApprovalForNewAgents: caller.type === 'agent',
  })
  if (fromCompanyId !== null) copyMemberships(ctx.db, { from: fromCompanyId, to: companyId, at: ctx.now })
  return { companyId, actor }
}

/**
 * Stores the data without a table, sets the hiring policy and records the activity.
 * The policy comes last, because an import by the board is the approval of its agents.
 */
export function finishImport(
  ctx: Context,
  caller: Caller,
  actor: Caller,
  companyId: string,
  { content, include, target, steps, fromCompanyId }: Application,
): void {
  if (target.companyId === null) {
    if (include.company) storeParts(ctx, companyId, content, target.companyName)
    if (content.company.requireBoardApprovalForNewAgents && caller.type !== 'agent' && include.company) {
      changeCompany(ctx, actor, companyId, { requireBoardApprovalForNewAgents: true })
    }
  }
  const created = steps.filter((step) => step.action !== 'skip')
  const counts = Object.fromEntries(
    [...Map.groupBy(created, (step) => step.kind)].map(([kind, all]) => [kind, all.length]),
  )
  recordActivity(ctx, actor, {
    companyId,
    action: 'company.imported',
    entity: { type: 'company', id: companyId },
    details: {
      package: content.company.name,
      created: counts,
      ...(actor !== caller && caller.type === 'agent' && { byAgentId: caller.agentId, fromCompanyId }),
    },
  })
}

function storeParts(ctx: Context, companyId: string, { company, documents }: CompanyPackage, name: string): void {
  // A copy with a different name does not use the slug of the original.
  const slug = name === company.name ? company.about.slug : null
  const about = Buffer.from(JSON.stringify({ ...company.about, slug }))
  insertPart(ctx.db, { company_id: companyId, path: 'COMPANY.md', kind: 'about', content: about })
  for (const [path, bytes] of documents) {
    insertPart(ctx.db, { company_id: companyId, path, kind: 'document', content: Buffer.from(bytes) })
  }
}
