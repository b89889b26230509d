import * as v from 'valibot'
import { agent, board } from '../../access/who.ts'
import { wholeNumber } from '../../http/list.ts'
import { route } from '../../http/route.ts'
import { Dashboard, dashboardOf } from './dashboard.ts'

export const dashboardRoutes = [
  route({
    id: 'companies.dashboard',
    method: 'GET',
    path: '/api/companies/:companyId/dashboard',
    summary: 'Get how a company stands: agents, tasks, spend, approvals, stale work, runs',
    who: [board, agent],
    query: v.object({
      staleAfterSec: v.optional(
        v.pipe(
          wholeNumber(0, 999_999_999),
          v.description('How long an issue in progress may go without a change, in seconds. Default: an hour.'),
        ),
        '3600',
      ),
    }),
    responses: { 200: Dashboard },
    run: (ctx, { params, query }) => dashboardOf(ctx, params.companyId, query.staleAfterSec),
  }),
]
