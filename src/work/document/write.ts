import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { findAgent, isAbove } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { getIssue } from '../issue/get.ts'
import type { IssueRow } from '../issue/issue.ts'
import { touchIssue } from '../issue/queries.ts'
import { type Current, type DocumentChange, type DocumentRow, toDocument } from './document.ts'
import { deleteDocumentRow, findDocument, findRevision, insertDocument, insertRevision, setLatest } from './queries.ts'

/** Gets a document of an issue by its key. */
export function getDocument(ctx: Context, caller: Caller, issueRef: string, key: string): Current {
  const found = findDocument(ctx.db, { issueId: getIssue(ctx, caller, issueRef).id, key })
  if (!found) throw notFound('document', key, 'This issue')
  return found
}

/**
 * Creates a document or adds a revision to it. A change names the revision that
 * it is based on. If another revision was added meanwhile, the change is
 * refused and the error contains that revision, so that no text is lost. An
 * equal text is a no-op, so a client that lost the response may retry.
 */
export function writeDocument(
  ctx: Context,
  caller: Caller,
  issueRef: string,
  key: string,
  want: DocumentChange,
): Current & { isNew: boolean } {
  const issue = getIssue(ctx, caller, issueRef)
  const found = findDocument(ctx.db, { issueId: issue.id, key })
  if (found && saysAlready(found, want)) return { ...found, isNew: false }
  assertCurrentRevision(found, key, want)
  const document = found?.document ?? addDocument(ctx, caller, issue, key)
  const number = (found?.revision.number ?? 0) + 1
  const revision = insertRevision(ctx.db, {
    ...creatorOf(caller),
    id: uuid(),
    company_id: issue.company_id,
    document_id: document.id,
    number,
    title: want.title === undefined ? (found?.revision.title ?? null) : want.title,
    format: 'markdown',
    body: want.body,
    change_summary: want.changeSummary ?? null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
    created_at: ctx.now,
  })
  const latest = found ? setLatest(ctx.db, { documentId: document.id, number }) : document
  touchIssue(ctx.db, { id: issue.id, at: ctx.now })
  record(ctx, caller, found ? 'issue.document_updated' : 'issue.document_created', latest, {
    revisionId: revision.id,
    revisionNumber: number,
    title: revision.title,
  })
  return { document: latest, revision, isNew: !found }
}

/** Adds a revision with the title and text of an earlier one. */
export function restoreDocument(ctx: Context, caller: Caller, issueRef: string, key: string, ref: string): Current {
  const { document, revision: latest } = getDocument(ctx, caller, issueRef, key)
  const earlier = findRevision(ctx.db, { documentId: document.id, ref })
  if (!earlier) throw notFound('revision', ref)
  return writeDocument(ctx, caller, issueRef, key, {
    title: earlier.title,
    body: earlier.body,
    baseRevisionId: latest.id,
    changeSummary: `Restored revision ${earlier.number}.`,
  })
}

/**
 * Deletes a document with its revisions. The board, the agent that created it
 * and the managers above that agent may.
 */
export function deleteDocument(ctx: Context, caller: Caller, issueRef: string, key: string): Current {
  const found = getDocument(ctx, caller, issueRef, key)
  assertMayDelete(ctx, caller, found.document)
  deleteDocumentRow(ctx.db, found.document.id)
  touchIssue(ctx.db, { id: found.document.issue_id, at: ctx.now })
  record(ctx, caller, 'issue.document_deleted', found.document, { title: found.revision.title })
  return found
}

const saysAlready = ({ revision }: Current, want: DocumentChange) =>
  revision.body === want.body && (want.title === undefined || want.title === revision.title)

function assertCurrentRevision(found: Current | undefined, key: string, want: DocumentChange): void {
  const base = want.baseRevisionId ?? null
  if (base === (found?.revision.id ?? null)) return
  if (!found) {
    throw new AppError('conflict', `The document ${key} no longer exists. Omit baseRevisionId to create it.`, {
      current: null,
    })
  }
  const why = base === null ? 'This document exists' : 'This document was changed in the meantime'
  throw new AppError(
    'conflict',
    `${why}. Merge your change into revision ${found.revision.number} and send its id as baseRevisionId.`,
    { currentRevisionId: found.revision.id, current: toDocument(found) },
  )
}

const addDocument = (ctx: Context, caller: Caller, issue: IssueRow, key: string): DocumentRow =>
  insertDocument(ctx.db, {
    ...creatorOf(caller),
    id: uuid(),
    company_id: issue.company_id,
    issue_id: issue.id,
    key,
    latest_number: 1,
    created_at: ctx.now,
  })

function creatorOf(caller: Caller) {
  const actor = actorOf(caller)
  return {
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
  }
}

function assertMayDelete(ctx: Context, caller: Caller, document: DocumentRow): void {
  if (caller.type !== 'agent') return
  const creatorId = document.created_by_agent_id
  if (creatorId === caller.agentId) return
  if (creatorId !== null && isAbove(ctx.db, { managerId: caller.agentId, agentId: creatorId })) return
  const creator = creatorId === null ? 'The board' : (findAgent(ctx.db, { id: creatorId })?.name ?? 'Its creator')
  throw forbidden(
    `${creator} created ${document.key}. Only the creator of a document, the managers above it and the board may delete it.`,
  )
}

const record = (
  ctx: Context,
  caller: Caller,
  action: Action,
  document: DocumentRow,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, {
    companyId: document.company_id,
    action,
    entity: { type: 'issue', id: document.issue_id },
    details: { documentId: document.id, key: document.key, ...details },
  })
