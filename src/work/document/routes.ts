import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { decodeCursor, LIST_QUERY, Page } from '../../http/list.ts'
import { reply } from '../../http/route.ts'
import { validate } from '../../http/validate.ts'
import { notFound } from '../../platform/errors.ts'
import { getIssue } from '../issue/get.ts'
import {
  Document,
  DocumentChange,
  DocumentSummary,
  documentKey,
  Revision,
  RevisionSummary,
  toDocument,
  toDocumentSummary,
  toRevision,
  toRevisionSummary,
} from './document.ts'
import { findRevision, listDocuments, listRevisions } from './queries.ts'
import { deleteDocument, getDocument, restoreDocument, writeDocument } from './write.ts'

export const documentRoutes = [
  route({
    id: 'documents.list',
    method: 'GET',
    path: '/api/issues/:issueId/documents',
    summary: 'List the documents of an issue, by key',
    who: [board, agent],
    responses: { 200: v.array(DocumentSummary) },
    run: (ctx, { caller, params }) =>
      listDocuments(ctx.db, { issueId: getIssue(ctx, caller, params.issueId).id }).map(toDocumentSummary),
  }),
  route({
    id: 'documents.get',
    method: 'GET',
    path: '/api/issues/:issueId/documents/:key',
    summary: 'Get a document of an issue',
    who: [board, agent],
    responses: { 200: Document },
    run: (ctx, { caller, params }) => toDocument(getDocument(ctx, caller, params.issueId, params.key)),
  }),
  route({
    id: 'documents.write',
    method: 'PUT',
    path: '/api/issues/:issueId/documents/:key',
    summary: 'Create a document of an issue, or add a revision to it',
    description:
      'To change an existing document, send the id of its latest revision as baseRevisionId. An outdated revision is a 409 with the current document in the details. Setting the current text is a no-op.',
    who: [board, agent],
    role: 'member',
    body: DocumentChange,
    responses: { 200: Document, 201: Document },
    run: (ctx, { caller, params, body }) => {
      const key = validate(documentKey, params.key, 'key')
      return ctx.write(() => {
        const written = writeDocument(ctx, caller, params.issueId, key, body)
        return reply(written.isNew ? 201 : 200, toDocument(written))
      })
    },
  }),
  route({
    id: 'documents.delete',
    method: 'DELETE',
    path: '/api/issues/:issueId/documents/:key',
    summary: 'Delete a document with its revisions',
    description: 'For the board, the agent that created it and the managers above that agent.',
    who: [board, agent],
    role: 'member',
    responses: { 200: Document },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toDocument(deleteDocument(ctx, caller, params.issueId, params.key))),
  }),
  route({
    id: 'documents.revisions',
    method: 'GET',
    path: '/api/issues/:issueId/documents/:key/revisions',
    summary: 'List the revisions of a document, newest first',
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(RevisionSummary) },
    run: (ctx, { caller, params, query: { limit, after, count } }) => {
      const { document } = getDocument(ctx, caller, params.issueId, params.key)
      const page = { documentId: document.id, after: decodeCursor(after, ['number'])?.[0], limit }
      return Page.of(listRevisions(ctx.db, page), {
        limit,
        cursorOf: (revision) => [revision.number],
        show: (revision) => toRevisionSummary({ document, revision }),
        total: count === 'true' ? document.latest_number : undefined,
      })
    },
  }),
  route({
    id: 'documents.revision',
    method: 'GET',
    path: '/api/issues/:issueId/documents/:key/revisions/:revisionId',
    summary: 'Get a revision of a document, by its id or its number',
    who: [board, agent],
    responses: { 200: Revision },
    run: (ctx, { caller, params }) => {
      const { document } = getDocument(ctx, caller, params.issueId, params.key)
      const revision = findRevision(ctx.db, { documentId: document.id, ref: params.revisionId })
      if (!revision) throw notFound('revision', params.revisionId)
      return toRevision({ document, revision })
    },
  }),
  route({
    id: 'documents.restore',
    method: 'POST',
    path: '/api/issues/:issueId/documents/:key/revisions/:revisionId/restore',
    summary: 'Restore an earlier revision of a document',
    description:
      'Adds a revision with the title and text of the earlier one. The later revisions remain in the history.',
    who: [board, agent],
    role: 'member',
    responses: { 200: Document },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toDocument(restoreDocument(ctx, caller, params.issueId, params.key, params.revisionId))),
  }),
]
