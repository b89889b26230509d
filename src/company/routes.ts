import * as v from 'valibot'
import { notFound } from '../errors.ts'
import { decodeCursor, LIST_QUERY, Page } from '../http/list.ts'
import { route } from '../http/route.ts'
import { agent, board, ceo } from '../http/who.ts'
import { Company, NewCompany, toCompany } from './company.ts'
import { createCompany } from './create.ts'
import { countCompanies, findCompanyWithSpend, listCompanies } from './queries.ts'

export const companyRoutes = [
  route({
    id: 'companies.list',
    method: 'GET',
    path: '/api/companies',
    summary: 'List the companies that the caller belongs to',
    who: [board, agent],
    query: v.object(LIST_QUERY),
    answers: { 200: v.array(Company) },
    run: (ctx, { caller, query }) => {
      const ids = caller.type === 'agent' ? [caller.companyId] : caller.type === 'board' ? caller.companyIds : null
      const known = ids && [...ids]
      const after = decodeCursor(query.after, ['string'])?.[0]
      const rows = listCompanies(ctx.db, { ids: known, after, limit: query.limit, now: ctx.now })
      const total = query.count === 'true' ? countCompanies(ctx.db, known) : undefined
      return Page.of(rows, { limit: query.limit, cursorOf: (row) => [row.id], show: toCompany, total })
    },
  }),
  route({
    id: 'companies.create',
    method: 'POST',
    path: '/api/companies',
    summary: 'Create a company',
    who: [board],
    body: NewCompany,
    answers: { 201: Company },
    run: (ctx, { caller, body }) => ctx.write(() => toCompany(createCompany(ctx, caller, body))),
  }),
  route({
    id: 'companies.get',
    method: 'GET',
    path: '/api/companies/:companyId',
    summary: 'Get a company',
    who: [board, ceo],
    answers: { 200: Company },
    run: (ctx, { params }) => {
      const row = findCompanyWithSpend(ctx.db, { id: params.companyId, now: ctx.now })
      if (!row) throw notFound('company', params.companyId)
      return toCompany(row)
    },
  }),
]
