import * as v from 'valibot'
import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { requireCompanyAccess } from '../../access/caller/visibility.ts'
import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, listOf } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden, notFound } from '../../platform/errors.ts'
import { getIssue } from '../issue/get.ts'
import { getInboxItem, INBOX_KINDS, InboxItem, inboxOf } from './inbox.ts'
import { saveState } from './queries.ts'

const flag = v.optional(v.picklist(['true', 'false']), 'false')

/** Marks items of a person's inbox as read or dismissed, or as neither. */
function mark(ctx: Context, { userId }: BoardCaller, item: InboxItem, want: Mark): InboxItem {
  const changed = {
    ...item,
    readAt: want.read === undefined ? item.readAt : want.read ? (item.readAt ?? ctx.now) : null,
    dismissedAt: want.dismissed === undefined ? item.dismissedAt : want.dismissed ? ctx.now : null,
  }
  saveState(ctx.db, {
    user_id: userId,
    item_id: item.id,
    company_id: item.companyId,
    item_at: item.at,
    read_at: changed.readAt,
    dismissed_at: changed.dismissedAt,
  })
  return changed
}

const Mark = v.strictObject({ read: v.optional(v.boolean()), dismissed: v.optional(v.boolean()) })
type Mark = v.InferOutput<typeof Mark>

/** The items of the caller's inbox that concern an issue. */
const itemsOfIssue = (ctx: Context, caller: Caller, ref: string): InboxItem[] => {
  const issue = getIssue(ctx, caller, ref)
  return inboxOf(ctx, personOf(caller), issue.company_id).filter((item) => item.issueId === issue.id)
}

/** Creates the endpoint that dismisses the items of an issue, or undoes that. */
const archiving = <const Id extends string, const M extends 'POST' | 'DELETE'>(
  id: Id,
  method: M,
  summary: string,
  dismissed: boolean,
) =>
  route({
    id,
    method,
    path: '/api/issues/:issueId/inbox-archive',
    summary,
    who: [board],
    role: 'viewer',
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: v.array(InboxItem) },
    run: (ctx, { caller, params }) =>
      ctx.write(() =>
        itemsOfIssue(ctx, caller, params.issueId).map((item) => mark(ctx, personOf(caller), item, { dismissed })),
      ),
  })

export const inboxRoutes = [
  route({
    id: 'inbox.list',
    method: 'GET',
    path: '/api/inbox',
    summary: "List the caller's inbox items, latest first",
    who: [board],
    query: v.object({
      companyId: v.optional(v.pipe(v.string(), v.description("Default: all of the person's companies."))),
      kind: v.optional(listOf(INBOX_KINDS)),
      unread: v.pipe(flag, v.description('Whether to list only unread items.')),
      dismissed: v.pipe(flag, v.description('Whether to include dismissed items.')),
      limit: LIST_QUERY.limit,
    }),
    responses: { 200: v.array(InboxItem) },
    run: (ctx, { caller, query }) => {
      if (query.companyId !== undefined) requireCompanyAccess(ctx, caller, query.companyId)
      return inboxOf(ctx, personOf(caller), query.companyId)
        .filter((item) => query.kind === undefined || query.kind.includes(item.kind))
        .filter((item) => query.dismissed === 'true' || item.dismissedAt === null)
        .filter((item) => query.unread === 'false' || item.readAt === null)
        .slice(0, query.limit)
    },
  }),
  route({
    id: 'inbox.update',
    method: 'PATCH',
    path: '/api/inbox/:itemId',
    summary: 'Mark an inbox item of the caller as read, unread or dismissed',
    description: 'An item that changes afterwards is unread again.',
    who: [board],
    role: 'viewer',
    body: Mark,
    responses: { 200: InboxItem },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const person = personOf(caller)
        return mark(ctx, person, getInboxItem(ctx, person, params.itemId), body)
      }),
  }),
  archiving('inbox.archiveIssue', 'POST', "Dismiss the items of an issue in the caller's inbox", true),
  archiving(
    'inbox.unarchiveIssue',
    'DELETE',
    "Show the dismissed items of an issue in the caller's inbox again",
    false,
  ),
  route({
    id: 'inbox.dismissals',
    method: 'GET',
    path: '/api/companies/:companyId/inbox-dismissals',
    summary: "List the dismissed items of the caller's inbox, latest first",
    who: [board],
    responses: { 200: v.array(InboxItem) },
    run: (ctx, { caller, params }) =>
      inboxOf(ctx, personOf(caller), params.companyId).filter((item) => item.dismissedAt !== null),
  }),
  route({
    id: 'inbox.dismiss',
    method: 'POST',
    path: '/api/companies/:companyId/inbox-dismissals',
    summary: "Dismiss an item of the caller's inbox",
    who: [board],
    role: 'viewer',
    body: v.strictObject({
      itemKey: v.pipe(field.reference, v.description('The id of the item. `approval:ID` means `approval-ID`.')),
    }),
    responses: { 200: InboxItem },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const person = personOf(caller)
        const item = getInboxItem(ctx, person, body.itemKey.replace(':', '-'))
        if (item.companyId !== params.companyId) throw notFound('inbox item', body.itemKey)
        return mark(ctx, person, item, { dismissed: true })
      }),
  }),
]

function personOf(caller: Caller): BoardCaller {
  if (caller.type !== 'board') throw forbidden('Only people have an inbox.')
  return caller
}
