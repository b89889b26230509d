import * as v from 'valibot'
import { route } from '../http/route.ts'
import { agent, board } from '../http/who.ts'
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
          v.string(),
          v.regex(/^\d{1,9}$/, 'must be a number of seconds'),
          v.transform(Number),
          v.description('How long an issue in progress may go without a change, in seconds. Default: an hour.'),
        ),
        '3600',
      ),
    }),
    answers: { 200: Dashboard },
    run: (ctx, { params, query }) => dashboardOf(ctx, params.companyId, query.staleAfterSec),
  }),
]
