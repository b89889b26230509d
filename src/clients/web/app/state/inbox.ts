import { computed, signal } from '@preact/signals'
import { act } from './act.ts'
import { type Received, request } from './api.ts'
import { createCollection } from './collection.ts'
import { company, companyIdNow, openings } from './company.ts'
import { gather } from './gather.ts'
import { takeGiven } from './given.ts'
import { type LiveEvent, onEvent } from './live.ts'
import { toast } from './toasts.ts'
import type { Approval } from './types.ts'

/** An inbox item. It is removed when its cause is resolved or when the person dismisses it. */
export type InboxItem = Received<'GET /api/inbox'>[number]

const items = createCollection<InboxItem>()

/** The fields of an approval that items and pages need. */
export const approvals = createCollection<Approval>()

/** Whether the inbox was loaded since the company was opened. */
export const isInboxLoaded = signal(false)

/** The inbox items, latest first. */
export const inbox = computed((): InboxItem[] =>
  items.all.value
    .filter(({ dismissedAt, approvalId }) => dismissedAt === null && isOpen(approvalId))
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
)

/** Whether an approval is pending. A decision in this page hides it before the server confirms the decision. */
const isOpen = (approvalId: string | null) => {
  const approval = approvals.get(approvalId)
  return approval === undefined || approval.status === 'pending'
}

/** The number of inbox items, for the sidebar, the title and the icon. */
export const inboxCount = computed(() => inbox.value.length)

/** Loads the inbox of the open company. */
export async function loadInbox(): Promise<void> {
  const companyId = companyIdNow()
  const opening = openings()
  const known = takeGiven(companyId, 'inbox')
  if (known) return replaceItems(known.inbox, known.approvals)
  const [found, pending] = await Promise.all([
    request('GET /api/inbox', { query: { companyId } }),
    request('GET /api/companies/:companyId/approvals', { params: { companyId }, query: { status: 'pending' } }),
  ])
  if (openings() !== opening) return
  replaceItems(found, pending)
}

/** Stores the loaded items and removes all others. */
function replaceItems(found: readonly InboxItem[], pending: readonly Approval[]): void {
  const ids = new Set(found.map(({ id }) => id))
  for (const { id } of items.all.peek()) if (!ids.has(id)) items.remove(id)
  approvals.put(...pending)
  items.put(...found)
  isInboxLoaded.value = true
}

/** Clears the inbox when another company is opened. */
export function clearInbox(): void {
  items.clear()
  approvals.clear()
  isInboxLoaded.value = false
}

/** The minimum time between two loads of the inbox, in milliseconds. A busy company has many events per second. */
const GATHER_MS = 400

const reload = gather(GATHER_MS, () => {
  if (company.peek()) void loadInbox().catch(() => {})
})

onEvent((event) => {
  if (changesInbox(event)) reload()
})

const changesInbox = ({ type, data: { entityType } }: LiveEvent) =>
  type === 'reset' ||
  entityType === 'approval' ||
  entityType === 'agent' ||
  type === 'company.budget_changed' ||
  type === 'run.finished' ||
  (entityType === 'issue' && type !== 'issue.checked_out')

type Mark = { read?: boolean; dismissed?: boolean }

/** Changes an item in the page immediately, and reverts the change if the server rejects it. */
async function mark(item: InboxItem, body: Mark): Promise<void> {
  const at = new Date().toISOString()
  const displayed = {
    ...(body.read !== undefined && { readAt: body.read ? at : null }),
    ...(body.dismissed !== undefined && { dismissedAt: body.dismissed ? at : null }),
  }
  await act(
    () => request('PATCH /api/inbox/:itemId', { params: { itemId: item.id }, body }),
    () => items.patch(item.id, displayed),
  )
}

export function markRead(item: InboxItem, read = true): void {
  if ((item.readAt !== null) !== read) void mark(item, { read })
}

/** Dismisses an item. The toast offers to undo it. */
export function dismiss(item: InboxItem): void {
  void mark(item, { dismissed: true })
  toast('Dismissed.', { undo: () => void mark(item, { dismissed: false }) })
}
