import * as v from 'valibot'
import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { requireCompanyAccess } from '../../access/caller/visibility.ts'
import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, listOf } from '../../http/list.ts'
import { forbidden } from '../../platform/errors.ts'
import { getInboxItem, INBOX_KINDS, InboxItem, inboxOf } from './inbox.ts'
import { saveState } from './queries.ts'

const flag = v.optional(v.picklist(['true', 'false']), 'false')

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
    body: v.strictObject({ read: v.optional(v.boolean()), dismissed: v.optional(v.boolean()) }),
    responses: { 200: InboxItem },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const person = personOf(caller)
        const item = getInboxItem(ctx, person, params.itemId)
        const changed = {
          ...item,
          readAt: body.read === undefined ? item.readAt : body.read ? (item.readAt ?? ctx.now) : null,
          dismissedAt: body.dismissed === undefined ? item.dismissedAt : body.dismissed ? ctx.now : null,
        }
        saveState(ctx.db, {
          user_id: person.userId,
          item_id: item.id,
          company_id: item.companyId,
          item_at: item.at,
          read_at: changed.readAt,
          dismissed_at: changed.dismissedAt,
        })
        return changed
      }),
  }),
]

function personOf(caller: Caller): BoardCaller {
  if (caller.type !== 'board') throw forbidden('Only people have an inbox.')
  return caller
}
