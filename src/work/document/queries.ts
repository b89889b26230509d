import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { DocumentRevisionTable, DocumentTable } from '../../platform/database/tables.ts'
import type { Current, DocumentRow, RevisionRow } from './document.ts'

const documentByKey = prepared((of: { issueId: string; key: string }) =>
  sql.selectFrom('document').selectAll().where('issue_id', '=', of.issueId).where('key', '=', of.key),
)

const documentsOf = prepared((of: { issueId: string }) =>
  sql.selectFrom('document').selectAll().where('issue_id', '=', of.issueId).orderBy('key'),
)

const revisionByNumber = prepared((of: { documentId: string; number: number }) =>
  sql
    .selectFrom('document_revision')
    .selectAll()
    .where('document_id', '=', of.documentId)
    .where('number', '=', of.number),
)

const current = (db: Db, document: DocumentRow): Current => ({
  document,
  revision: db.first(revisionByNumber({ documentId: document.id, number: document.latest_number }))!,
})

/** Finds a document of an issue with its latest revision. */
export function findDocument(db: Db, of: { issueId: string; key: string }): Current | undefined {
  const document = db.first(documentByKey(of))
  return document && current(db, document)
}

/** Lists the documents of an issue, by key. */
export const listDocuments = (db: Db, of: { issueId: string }): Current[] =>
  db.all(documentsOf(of)).map((document) => current(db, document))

/**
 * Newest first.
 *
 * @param page.after the number of the last revision of the previous page
 */
export function listRevisions(
  db: Db,
  page: { documentId: string; after: number | undefined; limit: number },
): RevisionRow[] {
  const query = sql
    .selectFrom('document_revision')
    .selectAll()
    .where('document_id', '=', page.documentId)
    .orderBy('number', 'desc')
    .limit(page.limit + 1)
  return db.all(page.after === undefined ? query : query.where('number', '<', page.after))
}

/** Finds a revision of a document by its id or its number. */
export const findRevision = (db: Db, of: { documentId: string; ref: string }): RevisionRow | undefined =>
  /^\d{1,9}$/.test(of.ref)
    ? db.first(revisionByNumber({ documentId: of.documentId, number: Number(of.ref) }))
    : db.first(
        sql
          .selectFrom('document_revision')
          .selectAll()
          .where('id', '=', of.ref)
          .where('document_id', '=', of.documentId),
      )

export const insertDocument = (db: Db, row: Insertable<DocumentTable>): DocumentRow =>
  db.first(sql.insertInto('document').values(row).returningAll())!

export const insertRevision = (db: Db, row: Insertable<DocumentRevisionTable>): RevisionRow =>
  db.first(sql.insertInto('document_revision').values(row).returningAll())!

export const setLatest = (db: Db, of: { documentId: string; number: number }): DocumentRow =>
  db.first(
    sql.updateTable('document').set({ latest_number: of.number }).where('id', '=', of.documentId).returningAll(),
  )!

export const deleteDocumentRow = (db: Db, id: string) => db.run(sql.deleteFrom('document').where('id', '=', id))
