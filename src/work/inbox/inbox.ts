import * as v from 'valibot'
import type { BoardCaller } from '../../access/caller/caller.ts'
import { listFailedWebhooks } from '../../access/webhook/queries.ts'
import { hostOfWebhook } from '../../access/webhook/webhook.ts'
import * as field from '../../http/fields.ts'
import { listCompanyIds } from '../../organization/company/queries.ts'
import { budgetStatus } from '../../organization/cost/budget-status.ts'
import { companySpend } from '../../organization/cost/queries.ts'
import type { Context } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { approvalTitle } from '../approval/title.ts'
import { listStaleIssues } from '../dashboard/queries.ts'
import { toInteraction } from '../interaction/interaction.ts'
import { listPendingInteractions } from '../interaction/queries.ts'
import {
  findBudget,
  findBudgetEvent,
  type InboxState,
  listAssigned,
  listFailing,
  listMentions,
  listPendingApprovals,
  listStates,
  listWithBudget,
  MOST,
} from './queries.ts'

export const INBOX_KINDS = ['approval', 'question', 'mention', 'assigned', 'failure', 'budget', 'stale'] as const
type Kind = (typeof INBOX_KINDS)[number]

/** An item that waits for a person. It leaves the inbox when its cause is resolved, or when the person dismisses it. */
export const InboxItem = v.strictObject({
  id: v.string(),
  kind: v.pipe(
    v.picklist(INBOX_KINDS),
    v.description(
      'approval: needs a decision; question: of an agent on an issue; mention: a comment mentions the person or `@board`; assigned: an open issue of the person; failure: an agent that errors stopped, or a webhook that the server disabled (without `agentId`); budget: an agent or the company used 80 % of its budget or all of it; stale: an issue in progress without a live run or change.',
    ),
  ),
  companyId: field.id,
  title: v.string(),
  body: v.pipe(
    v.nullable(v.string()),
    v.description('The comment, the reason in a sentence, or the issues of an approval.'),
  ),
  at: v.pipe(field.timestamp, v.description('When it last changed.')),
  readAt: v.nullable(field.timestamp),
  dismissedAt: v.nullable(field.timestamp),
  approvalId: v.nullable(field.id),
  issueId: v.nullable(field.id),
  issueIdentifier: v.nullable(v.string()),
  commentId: v.nullable(field.id),
  interactionId: v.nullable(field.id),
  agentId: v.nullable(field.id),
})
export type InboxItem = v.InferOutput<typeof InboxItem>

/** Returns everything that waits for a person, in one company or all of the person's, latest first. */
export function inboxOf(ctx: Context, caller: BoardCaller, companyId?: string): InboxItem[] {
  const states = new Map(listStates(ctx.db, { userId: caller.userId }).map((state) => [state.item_id, state]))
  const companyIds =
    companyId === undefined ? (caller.roles === null ? listCompanyIds(ctx.db) : [...caller.roles.keys()]) : [companyId]
  return companyIds
    .flatMap((id) => itemsOf(ctx, caller, id))
    .map((item) => withState(item, states.get(item.id)))
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

/** Gets one item of the person's inbox. @throws AppError 404 if it is not, or no longer, in it */
export function getInboxItem(ctx: Context, caller: BoardCaller, id: string): InboxItem {
  const item = inboxOf(ctx, caller).find((one) => one.id === id)
  if (!item) throw notFound('inbox item', id)
  return item
}

/** An item that changed after it was read or dismissed is unread again. */
const withState = (item: InboxItem, state: InboxState | undefined): InboxItem =>
  state && state.item_at >= item.at ? { ...item, readAt: state.read_at, dismissedAt: state.dismissed_at } : item

function itemsOf(ctx: Context, caller: BoardCaller, companyId: string): InboxItem[] {
  const of = { companyId, userId: caller.userId, now: ctx.now }
  return [
    ...listPendingApprovals(ctx.db, of).map((row) =>
      toItem('approval', row.id, companyId, row.updated_at, approvalTitle(row), {
        body: row.identifiers && `Linked to ${row.identifiers}`,
        approvalId: row.id,
        agentId: row.requested_by_agent_id,
      }),
    ),
    ...listPendingInteractions(ctx.db, { companyId, limit: MOST }).map((row) => {
      const { title, question } = toInteraction(row)
      return toItem('question', row.id, companyId, row.updated_at, title, {
        body: question,
        interactionId: row.id,
        issueId: row.issue_id,
        issueIdentifier: row.identifier,
        agentId: row.created_by_agent_id,
      })
    }),
    ...listMentions(ctx.db, of).map((row) =>
      toItem(
        'mention',
        row.id,
        companyId,
        row.created_at,
        `${row.author ?? 'The board'} mentioned you in ${row.identifier}`,
        {
          body: row.body,
          commentId: row.id,
          issueId: row.issue_id,
          issueIdentifier: row.identifier,
          agentId: row.author_agent_id,
        },
      ),
    ),
    ...listAssigned(ctx.db, of).map((row) =>
      toItem('assigned', row.id, companyId, row.assigned_at ?? row.created_at, row.title, {
        issueId: row.id,
        issueIdentifier: row.identifier,
      }),
    ),
    ...listFailing(ctx.db, of).map((row) =>
      toItem('failure', row.id, companyId, row.paused_at ?? row.updated_at, `${row.name} has a problem`, {
        body: row.pause_message ?? row.error_reason,
        agentId: row.id,
      }),
    ),
    ...listFailedWebhooks(ctx.db, of).map((row) =>
      toItem('failure', row.id, companyId, row.disabled_at!, `The webhook to ${hostOfWebhook(row)} is disabled`, {
        body:
          row.disabled_why === 'gone'
            ? 'Its URL responded with 410 Gone.'
            : 'No delivery succeeded for three days. Enable it to receive the events from then on.',
      }),
    ),
    ...budgetItems(ctx, companyId),
    ...staleItems(ctx, companyId),
  ]
}

/**
 * Returns an item for each budget that is used to 80 % or more. A new month, or
 * a budget that becomes fully used, creates a new item.
 */
function budgetItems(ctx: Context, companyId: string): InboxItem[] {
  const company = findBudget(ctx.db, { companyId })
  const budgets = [
    ...listWithBudget(ctx.db, { companyId, now: ctx.now }),
    ...(company ? [{ ...company, agentId: null, spent: companySpend(ctx.db, { companyId, now: ctx.now }) }] : []),
  ]
  const month = ctx.now.slice(0, 7)
  const since = `${month}-01T00:00:00.000Z`
  return budgets.flatMap(({ id, agentId, name, budget, spent }) => {
    const status = budgetStatus({ budgetMicros: budget, spentMicros: spent })
    if (status === 'ok') return []
    const used = status === 'exceeded' ? 'used up its budget' : 'used 80 % of its budget'
    const at = findBudgetEvent(ctx.db, { entityId: id, since })?.created_at ?? since
    return [toItem('budget', `${id}-${month}-${status}`, companyId, at, `${name} ${used}`, { agentId })]
  })
}

/** The time without a change after which an issue in progress is stale, in milliseconds: a day, as on the dashboard. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1_000
const MAX_STALE = 50

function staleItems(ctx: Context, companyId: string): InboxItem[] {
  const before = new Date(Date.parse(ctx.now) - STALE_AFTER_MS).toISOString()
  return listStaleIssues(ctx.db, { companyId, before, limit: MAX_STALE }).map((row) =>
    toItem('stale', row.id, companyId, row.updatedAt, row.title, {
      issueId: row.id,
      issueIdentifier: row.identifier,
      agentId: row.assigneeAgentId,
    }),
  )
}

const toItem = (
  kind: Kind,
  key: string,
  companyId: string,
  at: string,
  title: string,
  about: Partial<InboxItem>,
): InboxItem => ({
  id: `${kind}-${key}`,
  kind,
  companyId,
  title,
  body: null,
  at,
  readAt: null,
  dismissedAt: null,
  approvalId: null,
  issueId: null,
  issueIdentifier: null,
  commentId: null,
  interactionId: null,
  agentId: null,
  ...about,
})
