import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { changeCompany } from './change.ts'
import { BrandingChange, BudgetChange, Company, CompanyChange, NewCompany, toCompany } from './company.ts'
import { createCompany } from './create.ts'
import { findCompanyWithSpend, selectCompanies } from './queries.ts'
import { deleteCompany } from './remove.ts'
import { stopCompany, thawCompany } from './stop.ts'
import { companyIdsOf } from './visible.ts'

const confirm = v.pipe(v.string(), v.description("The company's name, in the query or the body."))

export const companyRoutes = [
  route({
    id: 'companies.list',
    method: 'GET',
    path: '/api/companies',
    summary: 'List the companies of the caller',
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Company) },
    run: (ctx, { caller, query }) => {
      const companies = selectCompanies({ ids: companyIdsOf(caller), now: ctx.now })
      return readPage(ctx.db, companies, query, { by: 'id' }).map(toCompany)
    },
  }),
  route({
    id: 'companies.create',
    method: 'POST',
    path: '/api/companies',
    summary: 'Create a company',
    who: [board],
    role: 'viewer',
    body: NewCompany,
    responses: { 201: Company },
    run: (ctx, { caller, body }) => ctx.write(() => toCompany(createCompany(ctx, caller, body))),
  }),
  route({
    id: 'companies.get',
    method: 'GET',
    path: '/api/companies/:companyId',
    summary: 'Get a company',
    who: [board, ceo],
    responses: { 200: Company },
    run: (ctx, { params }) => show(ctx, params.companyId),
  }),
  route({
    id: 'companies.update',
    method: 'PATCH',
    path: '/api/companies/:companyId',
    summary: 'Change a company',
    description:
      'The CEO agent may change name, description, brandColor and logoAssetId. The board may change all fields.',
    who: [board, ceo],
    allowsArchived: true,
    body: CompanyChange,
    responses: { 200: Company },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toCompany(changeCompany(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'companies.updateBranding',
    method: 'PATCH',
    path: '/api/companies/:companyId/branding',
    summary: 'Change the name and branding of a company',
    who: [board, ceo],
    allowsArchived: true,
    body: BrandingChange,
    responses: { 200: Company },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toCompany(changeCompany(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'companies.updateBudgets',
    method: 'PATCH',
    path: '/api/companies/:companyId/budgets',
    summary: "Set a company's monthly budget",
    who: [board],
    allowsArchived: true,
    body: BudgetChange,
    responses: { 200: Company },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toCompany(changeCompany(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'companies.stop',
    method: 'POST',
    path: '/api/companies/:companyId/stop',
    summary: 'Stop all runs of a company immediately, and prevent new ones',
    description:
      'Responds immediately. All processes have ended after the grace period plus 2 seconds. Wakes remain queued until the thaw.',
    who: [board],
    allowsArchived: true,
    body: v.strictObject({ reason: v.optional(v.nullable(field.text)) }),
    bodyOptional: true,
    responses: { 200: Company },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        stopCompany(ctx, caller, params.companyId, body.reason ?? null)
        return show(ctx, params.companyId)
      }),
  }),
  route({
    id: 'companies.thaw',
    method: 'POST',
    path: '/api/companies/:companyId/thaw',
    summary: 'End the stop of a company. Its queued wakes can start again',
    who: [board],
    allowsArchived: true,
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: Company },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        thawCompany(ctx, caller, params.companyId)
        return show(ctx, params.companyId)
      }),
  }),
  route({
    id: 'companies.archive',
    method: 'POST',
    path: '/api/companies/:companyId/archive',
    summary: 'Archive a company: it becomes read-only, and no agent runs',
    who: [board],
    allowsArchived: true,
    responses: { 200: Company },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toCompany(changeCompany(ctx, caller, params.companyId, { status: 'archived' }))),
  }),
  route({
    id: 'companies.delete',
    method: 'DELETE',
    path: '/api/companies/:companyId',
    summary: 'Delete a company with all of its records. This cannot be undone',
    who: [board],
    allowsArchived: true,
    role: 'owner',
    query: v.object({ confirm: v.optional(confirm) }),
    body: v.strictObject({ confirm: v.optional(confirm) }),
    bodyOptional: true,
    responses: { 200: v.strictObject({ ok: v.literal(true), id: v.string() }) },
    run: async (ctx, { params, query, body }) => {
      const { id } = await deleteCompany(ctx, params.companyId, body.confirm ?? query.confirm)
      return { ok: true, id }
    },
  }),
]

function show(ctx: Context, companyId: string): Company {
  const row = findCompanyWithSpend(ctx.db, { id: companyId, now: ctx.now })
  if (!row) throw notFound('company', companyId)
  return toCompany(row)
}
