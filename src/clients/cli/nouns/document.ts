import type { ResponseOf } from '../../client/types.ts'
import { LIMIT, longText, text } from '../command/flag.ts'
import { ago, localTime, plain, shortId } from '../command/output.ts'
import { edit, list, noun, remove, view } from '../command/verb.ts'

type Document = ResponseOf<'GET /api/issues/:issueId/documents/:key'>

const theDocument = ([issueId, key]: readonly [string, string]) => ({ issueId, key })

export const documentList = (name: string, example: string) =>
  list({
    name,
    summary: 'List the documents of an issue.',
    args: ['<issue>'],
    examples: [example],
    empty: 'It has no documents. Write one with `service document edit`.',
    load: async (scope, _, [issueId]) =>
      scope.client.request('GET /api/issues/:issueId/documents', { params: { issueId } }),
    columns: {
      Document: ({ key }) => key,
      Title: ({ title }) => title,
      Revision: ({ latestRevisionNumber }) => latestRevisionNumber,
      Changed: ({ updatedAt }) => ago(updatedAt),
    },
  })

export const documentCommand = () =>
  noun('document', 'Documents: markdown texts of an issue, such as its plan, with their revisions.', [
    documentList('list', 'document list TER-6'),
    view({
      summary: 'Print a document.',
      args: ['<issue>', '<document>'],
      examples: ['document view TER-6 plan'],
      load: (scope, args) =>
        scope.client.request('GET /api/issues/:issueId/documents/:key', { params: theDocument(args) }),
      text: ({ body }) => plain(body),
    }),
    edit({
      summary: 'Write a new document (also: create), or a new revision of it.',
      args: ['<issue>', '<document>'],
      flags: {
        body: longText('-b, --body <text>'),
        title: text('--title <title>'),
        changeSummary: text('-m, --message <text>', 'what changed'),
      },
      examples: ['document edit TER-6 plan --body @data.md --message "Second draft"'],
      load: async (scope, args): Promise<Partial<Document>> =>
        scope.client
          .request('GET /api/issues/:issueId/documents/:key', { params: theDocument(args) })
          .catch(() => ({ body: '' })),
      async send(scope, args, change) {
        const params = theDocument(args)
        const all = await scope.client.request('GET /api/issues/:issueId/documents', { params })
        const before = all.find(({ key }) => key === params.key)
        const body =
          change.body ??
          (before ? (await scope.client.request('GET /api/issues/:issueId/documents/:key', { params })).body : '')
        return scope.client.request('PUT /api/issues/:issueId/documents/:key', {
          params,
          body: { ...change, body, ...(before && { baseRevisionId: before.latestRevisionId }) },
        })
      },
      text: ({ key, latestRevisionNumber }) => `${key} has revision ${latestRevisionNumber}.`,
    }).alias('create'),
    list({
      name: 'revisions',
      summary: 'List the revisions of a document, the latest first.',
      args: ['<issue>', '<document>'],
      flags: LIMIT,
      examples: ['document revisions TER-6 plan'],
      empty: 'It has no revisions.',
      load: async (scope, query, args) =>
        scope.client.page('GET /api/issues/:issueId/documents/:key/revisions', { params: theDocument(args), query }),
      columns: {
        Revision: ({ revisionNumber }) => revisionNumber,
        Time: ({ createdAt }) => localTime(createdAt),
        Summary: ({ changeSummary }) => changeSummary,
        Id: ({ id }) => shortId(id),
      },
    }),
    view({
      name: 'revision',
      summary: 'Print a revision of a document.',
      args: ['<issue>', '<document>', '<number>'],
      examples: ['document revision TER-6 plan 1'],
      load: (scope, [issueId, key, revisionId]) =>
        scope.client.request('GET /api/issues/:issueId/documents/:key/revisions/:revisionId', {
          params: { issueId, key, revisionId },
        }),
      text: ({ body }) => plain(body),
    }),
    remove({
      summary: 'Delete a document with its revisions.',
      args: ['<issue>', '<document>'],
      examples: ['document delete TER-6 plan --yes'],
      ask: ([issue, key]) => `Delete the document ${key} of ${issue} with its revisions?`,
      send: (scope, args) =>
        scope.client.request('DELETE /api/issues/:issueId/documents/:key', { params: theDocument(args) }),
      text: ({ key }) => `The document ${key} is deleted.`,
    }),
  ])
