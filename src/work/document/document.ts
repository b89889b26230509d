import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { DocumentRevisionTable, DocumentTable } from '../../platform/database/tables.ts'

export type DocumentRow = Selectable<DocumentTable>
export type RevisionRow = Selectable<DocumentRevisionTable>

/** A document with its latest revision. */
export interface Current {
  document: DocumentRow
  revision: RevisionRow
}

/** The key of a document on its issue. */
export const documentKey = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, - and _, at most 64, such as plan'),
)

/** A document as lists return it, without its text. */
export const DocumentSummary = v.strictObject({
  id: field.id,
  companyId: field.id,
  issueId: field.id,
  key: v.string(),
  title: v.nullable(v.string()),
  format: v.literal('markdown'),
  latestRevisionId: field.id,
  latestRevisionNumber: field.integer,
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  updatedByAgentId: v.nullable(field.id),
  updatedByUserId: v.nullable(v.string()),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})

/** A document as the API returns it. */
export const Document = v.strictObject({ ...DocumentSummary.entries, body: v.string() })
export type Document = v.InferOutput<typeof Document>

/** A revision as lists return it, without its text. */
export const RevisionSummary = v.strictObject({
  id: field.id,
  companyId: field.id,
  documentId: field.id,
  issueId: field.id,
  key: v.string(),
  revisionNumber: field.integer,
  title: v.nullable(v.string()),
  format: v.literal('markdown'),
  changeSummary: v.nullable(v.string()),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  createdByRunId: v.nullable(field.id),
  createdAt: field.timestamp,
})

export const Revision = v.strictObject({ ...RevisionSummary.entries, body: v.string() })

export const DocumentChange = v.strictObject({
  body: v.pipe(field.text, v.description('Markdown.')),
  title: v.optional(v.pipe(v.nullable(field.name), v.description('Default: unchanged.'))),
  format: v.optional(v.literal('markdown')),
  changeSummary: v.optional(v.nullable(field.name)),
  baseRevisionId: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description('The revision on which the change is based. Required if the document exists.'),
    ),
  ),
})
export type DocumentChange = v.InferOutput<typeof DocumentChange>

export const toDocumentSummary = ({ document, revision }: Current): v.InferOutput<typeof DocumentSummary> => ({
  id: document.id,
  companyId: document.company_id,
  issueId: document.issue_id,
  key: document.key,
  title: revision.title,
  format: revision.format,
  latestRevisionId: revision.id,
  latestRevisionNumber: revision.number,
  createdByAgentId: document.created_by_agent_id,
  createdByUserId: document.created_by_user_id,
  updatedByAgentId: revision.created_by_agent_id,
  updatedByUserId: revision.created_by_user_id,
  createdAt: document.created_at,
  updatedAt: revision.created_at,
})

export const toDocument = (current: Current): Document => ({
  ...toDocumentSummary(current),
  body: current.revision.body,
})

export const toRevisionSummary = ({ document, revision }: Current): v.InferOutput<typeof RevisionSummary> => ({
  id: revision.id,
  companyId: revision.company_id,
  documentId: document.id,
  issueId: document.issue_id,
  key: document.key,
  revisionNumber: revision.number,
  title: revision.title,
  format: revision.format,
  changeSummary: revision.change_summary,
  createdByAgentId: revision.created_by_agent_id,
  createdByUserId: revision.created_by_user_id,
  createdByRunId: revision.created_by_run_id,
  createdAt: revision.created_at,
})

export const toRevision = (current: Current) => ({ ...toRevisionSummary(current), body: current.revision.body })
