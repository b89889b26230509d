import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { wholeNumber } from '../../http/list.ts'
import { companyIdsOf } from '../../organization/company/visible.ts'
import { CompanyStats, countByCompany } from './company-stats.ts'
import { Dashboard, dashboardOf } from './dashboard.ts'

export const dashboardRoutes = [
  route({
    id: 'companies.stats',
    method: 'GET',
    path: '/api/companies/stats',
    summary: "Count the records of the caller's companies, by company id",
    who: [board, agent],
    isCached: true,
    responses: { 200: v.record(v.string(), CompanyStats) },
    run: (ctx, { caller }) => countByCompany(ctx.db, companyIdsOf(caller)),
  }),
  route({
    id: 'companies.dashboard',
    method: 'GET',
    path: '/api/companies/:companyId/dashboard',
    summary: 'Get the current numbers of a company: agents, tasks, spend, approvals, stale issues, runs',
    who: [board, agent],
    isCached: true,
    query: v.object({
      staleAfterSec: v.optional(
        v.pipe(
          wholeNumber(0, 999_999_999),
          v.description(
            'The time without a change after which an issue in progress is stale, in seconds. Default: 3600.',
          ),
        ),
        '3600',
      ),
    }),
    responses: { 200: Dashboard },
    run: (ctx, { params, query }) => dashboardOf(ctx, params.companyId, query.staleAfterSec),
  }),
]
