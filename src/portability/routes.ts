import * as v from 'valibot'
import { agent, board, ceo } from '../access/caller/who.ts'
import { route } from '../access/route.ts'
import { alias } from '../http/route.ts'
import { exportCompany, previewExport } from './export/export.ts'
import { ExportBody, ExportedPackage, ExportPreview } from './export/export-body.ts'
import { applyImport, previewImport } from './plan/import.ts'
import { IMPORT_BODY_FIELDS, ImportBody, ImportPlan, importBodyJob } from './plan/import-body.ts'
import { listTemplates, Template } from './read/templates.ts'

/** The bodies of imports: room for the largest package in base64, in bytes. */
const IMPORT_BODY = {
  body: ImportBody,
  bodyLimit: 32 * 1024 * 1024,
  bodyFields: IMPORT_BODY_FIELDS,
  bodyJob: importBodyJob,
} as const

const exportRoute = route({
  id: 'exports.create',
  method: 'POST',
  path: '/api/companies/:companyId/exports',
  summary: 'Export a company as a package',
  description:
    'The package contains no secrets, ids, timestamps or absolute paths. The same company produces the same bytes. Issues are included only on request.',
  who: [board, ceo],
  allowsArchived: true,
  body: ExportBody,
  bodyOptional: true,
  responses: { 200: ExportedPackage },
  run: (ctx, { caller, params, body }) => exportCompany(ctx, caller, params.companyId, body),
})

export const packageRoutes = [
  route({
    id: 'imports.preview',
    method: 'POST',
    path: '/api/companies/:companyId/imports/preview',
    summary: 'Preview an import into a company, record by record',
    description:
      'The package comes from `github`, an https `git` repository, `inline` files or a `template`. The preview changes nothing.',
    who: [board, ceo],
    allowsArchived: true,
    ...IMPORT_BODY,
    responses: { 200: ImportPlan },
    run: (ctx, { caller, params, body }) => previewImport(ctx, caller, params.companyId, body),
  }),
  route({
    id: 'imports.apply',
    method: 'POST',
    path: '/api/companies/:companyId/imports/apply',
    summary: 'Import a package into this company or a new one',
    description:
      'Applies the plan of the preview completely or not at all. Agents start idle, or pending approval if a hire would need one. No timer runs and no agent is woken. A new company has the members of this one.',
    who: [board, ceo],
    ...IMPORT_BODY,
    responses: { 201: ImportPlan },
    run: (ctx, { caller, params, body }) => applyImport(ctx, caller, params.companyId, body),
  }),
  route({
    id: 'exports.preview',
    method: 'POST',
    path: '/api/companies/:companyId/exports/preview',
    summary: 'Preview an export, file by file',
    who: [board, ceo],
    allowsArchived: true,
    body: ExportBody,
    bodyOptional: true,
    responses: { 200: ExportPreview },
    run: (ctx, { caller, params, body }) => previewExport(ctx, caller, params.companyId, body),
  }),
  exportRoute,
  alias(exportRoute, { id: 'exports.createAlias', path: '/api/companies/:companyId/export' }),
  route({
    id: 'packages.preview',
    method: 'POST',
    path: '/api/companies/import/preview',
    summary: 'Preview an import as a new company',
    who: [board],
    ...IMPORT_BODY,
    responses: { 200: ImportPlan },
    run: (ctx, { caller, body }) => previewImport(ctx, caller, null, body),
  }),
  route({
    id: 'packages.apply',
    method: 'POST',
    path: '/api/companies/import/apply',
    summary: 'Import a package as a new company',
    who: [board],
    ...IMPORT_BODY,
    responses: { 201: ImportPlan },
    run: (ctx, { caller, body }) => applyImport(ctx, caller, null, body),
  }),
  route({
    id: 'templates.list',
    method: 'GET',
    path: '/api/templates',
    summary: 'List the templates of companies',
    description:
      'To create a company from a template, use POST /api/companies/import/apply with `source: { type: "template", name }`.',
    who: [board, agent],
    responses: { 200: v.array(Template) },
    run: (ctx) => listTemplates(ctx),
  }),
]
