import { publishEvent } from '../../access/activity/live-events.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound, unprocessable } from '../../platform/errors.ts'
import { listLiveRuns } from '../run/queries.ts'
import type { CompanyRow } from './company.ts'
import { noteLeftovers, removeLeftovers } from './leftovers.ts'
import { deleteCompanyRows, findCompany } from './queries.ts'

/**
 * Deletes a company with everything in it, and its files after the commit. The
 * deletion is permanent, so the request must confirm the name, and no run may
 * be live.
 *
 * @returns the deleted row
 */
export async function deleteCompany(ctx: Context, companyId: string, confirm: string | undefined): Promise<CompanyRow> {
  const company = await ctx.write(() => {
    const company = findCompany(ctx.db, { id: companyId })
    if (!company) throw notFound('company', companyId)
    assertConfirmed(company, confirm)
    assertNoLiveRuns(ctx, companyId)
    noteLeftovers(ctx.db, companyId)
    deleteCompanyRows(ctx.db, companyId)
    // The deletion removes the company's activity too, so the server log records it.
    ctx.afterCommit(() => {
      ctx.log.info('A company was deleted.', { companyId })
      publishEvent(ctx, companyId, 'company.deleted', () => ({ companyId }))
    })
    return company
  })
  await removeLeftovers(ctx)
  return company
}

function assertConfirmed(company: CompanyRow, confirm: string | undefined): void {
  if (confirm === company.name) return
  throw unprocessable(
    'confirm',
    `must be the company's name, ${JSON.stringify(company.name)}, because the deletion cannot be undone`,
  )
}

function assertNoLiveRuns(ctx: Context, companyId: string): void {
  const live = listLiveRuns(ctx.db, { companyId })
  if (live.length === 0) return
  throw new AppError(
    'conflict',
    `${live.length} runs of this company are live. Pause the company and wait until they have ended.`,
    {
      runIds: live.map((run) => run.id),
    },
  )
}
