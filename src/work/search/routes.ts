import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { wholeNumber } from '../../http/list.ts'
import { Found, searchJob } from './search.ts'

export const searchRoutes = [
  route({
    id: 'companies.search',
    method: 'GET',
    path: '/api/companies/:companyId/search',
    summary: 'Search issues, comments, agents, projects and goals by word prefixes',
    who: [board, agent],
    query: v.object({
      q: v.pipe(v.string(), v.maxLength(500, 'must be at most 500 characters')),
      limit: v.optional(
        v.pipe(wholeNumber(1, 50), v.description('The maximum number of results of each kind. The default is 10.')),
        '10',
      ),
    }),
    responses: { 200: Found },
    run: (ctx, { params, query }) => ctx.reader.run(searchJob, { companyId: params.companyId, ...query }),
  }),
]
