import { AppError } from '../../platform/errors.ts'
import type { Client } from '../client/client.ts'
import { given } from './issue-tools.ts'
import { arg, type Tool, tool } from './tool.ts'

const key = arg.text('The key of the document on its issue, such as `plan`.')

/** Reads the document's present revision, or null if there is no document yet. */
async function revisionOf(client: Client, issueId: string, documentKey: string): Promise<string | null> {
  try {
    const params = { issueId, key: documentKey }
    return (await client.request('GET /api/issues/:issueId/documents/:key', { params })).latestRevisionId
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

export const documentTools: readonly Tool[] = [
  tool({
    name: 'list_documents',
    description: 'List the documents of an issue, without their texts.',
    readOnly: true,
    input: { issue: arg.issue },
    async run(client, { issue: issueId }) {
      const documents = await client.request('GET /api/issues/:issueId/documents', { params: { issueId } })
      return documents.map(({ key, title, latestRevisionNumber, updatedAt }) => ({
        key,
        title,
        revision: latestRevisionNumber,
        updatedAt,
      }))
    },
  }),
  tool({
    name: 'get_document',
    description: 'Read a document of an issue.',
    readOnly: true,
    input: { issue: arg.issue, key },
    async run(client, { issue: issueId, key }) {
      const document = await client.request('GET /api/issues/:issueId/documents/:key', { params: { issueId, key } })
      return {
        title: document.title,
        body: document.body,
        revisionId: document.latestRevisionId,
        revision: document.latestRevisionNumber,
      }
    },
  }),
  tool({
    name: 'write_document',
    description: 'Create a document on an issue, or replace its text. Every version is kept.',
    input: {
      issue: arg.issue,
      key,
      body: arg.text('Markdown: the whole text.'),
      title: arg.optional('One line.'),
      summary: arg.optional('What you changed, in one line.'),
      revisionId: arg.optional('The revision that you read. If another one was written since, the write is refused.'),
    },
    async run(client, { issue: issueId, key, body, title, summary, revisionId }) {
      const baseRevisionId = revisionId ?? (await revisionOf(client, issueId, key)) ?? undefined
      const written = await client.request('PUT /api/issues/:issueId/documents/:key', {
        params: { issueId, key },
        body: { body, ...given({ title, changeSummary: summary, baseRevisionId }) },
      })
      return { key, revisionId: written.latestRevisionId, revision: written.latestRevisionNumber }
    },
  }),
  tool({
    name: 'list_document_revisions',
    description: 'List the versions of a document, newest first, without their texts.',
    readOnly: true,
    input: { issue: arg.issue, key, limit: arg.limit },
    async run(client, { issue: issueId, key, limit }) {
      const revisions = await client.request('GET /api/issues/:issueId/documents/:key/revisions', {
        params: { issueId, key },
        query: { limit },
      })
      return revisions.map(({ id, revisionNumber, changeSummary, createdAt }) => ({
        revisionId: id,
        revision: revisionNumber,
        changeSummary,
        createdAt,
      }))
    },
  }),
  tool({
    name: 'restore_document',
    description: 'Write the text of an earlier version of a document as its newest version.',
    input: { issue: arg.issue, key, revisionId: arg.text('Of list_document_revisions.') },
    async run(client, { issue: issueId, key, revisionId }) {
      const old = await client.request('GET /api/issues/:issueId/documents/:key/revisions/:revisionId', {
        params: { issueId, key, revisionId },
      })
      const written = await client.request('PUT /api/issues/:issueId/documents/:key', {
        params: { issueId, key },
        body: {
          body: old.body,
          changeSummary: `Restored revision ${old.revisionNumber}`,
          baseRevisionId: await revisionOf(client, issueId, key),
        },
      })
      return { key, revisionId: written.latestRevisionId, revision: written.latestRevisionNumber }
    },
  }),
]
