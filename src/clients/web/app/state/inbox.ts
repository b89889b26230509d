import { computed, signal } from '@preact/signals'
import { request } from './api.ts'
import { createCollection } from './collection.ts'
import { agents, companyIdNow, issues, session } from './company.ts'
import { onEvent } from './live.ts'
import type { Agent, Approval, Issue } from './types.ts'

/** Approvals that wait for a decision. */
export const approvals = createCollection<Approval>()

/** Loads the pending approvals, and the open issues of the person. */
export async function loadInbox(): Promise<void> {
  const params = { companyId: companyIdNow() }
  const [pending, mine] = await Promise.all([
    request('GET /api/companies/:companyId/approvals', { params, query: { status: 'pending' } }),
    request('GET /api/companies/:companyId/issues', {
      params,
      query: { assigneeUserId: 'me', status: 'backlog,todo,in_progress,in_review,blocked' },
    }),
  ])
  const ids = new Set(pending.map(({ id }) => id))
  for (const { id } of approvals.all.peek()) if (!ids.has(id)) approvals.remove(id)
  approvals.put(...pending)
  issues.put(...mine)
}

onEvent(({ type, data }) => {
  if (type === 'reset' || data.entityType === 'approval') void loadInbox().catch(() => {})
})

/** Something that waits for the person. It leaves the inbox when what it is about is dealt with. */
export type InboxItem =
  | { kind: 'approval'; id: string; at: string; approval: Approval }
  | { kind: 'error'; id: string; at: string; agent: Agent }
  | { kind: 'held'; id: string; at: string; agent: Agent }
  | { kind: 'issue'; id: string; at: string; issue: Issue }
  | { kind: 'budget'; id: string; at: string; agent: Agent }

/** Everything that waits, by kind. */
export const inbox = computed((): InboxItem[] => {
  const me = session.value?.userId
  const all = agents.all.value
  return [
    ...approvals.all.value
      .filter(({ status }) => status === 'pending')
      .map((approval): InboxItem => ({ kind: 'approval', id: approval.id, at: approval.updatedAt, approval })),
    ...all
      .filter(({ status }) => status === 'error')
      .map((agent): InboxItem => ({ kind: 'error', id: `error-${agent.id}`, at: agent.updatedAt, agent })),
    ...all
      .filter(({ status, pauseReason }) => status === 'paused' && pauseReason !== 'manual')
      .map(
        (agent): InboxItem => ({ kind: 'held', id: `held-${agent.id}`, at: agent.pausedAt ?? agent.updatedAt, agent }),
      ),
    ...issues.all.value
      .filter((issue) => issue.assigneeUserId === me && issue.status !== 'done' && issue.status !== 'cancelled')
      .map((issue): InboxItem => ({ kind: 'issue', id: issue.id, at: issue.updatedAt, issue })),
    ...all
      .filter(({ status, budgetStatus }) => status !== 'paused' && status !== 'terminated' && budgetStatus !== 'ok')
      .map((agent): InboxItem => ({ kind: 'budget', id: `budget-${agent.id}`, at: agent.updatedAt, agent })),
  ]
})

/** How much waits, for the sidebar and the title. */
export const inboxCount = computed(() => inbox.value.length)

/** What the person has looked at in this browser: the item, and when it last changed. */
const seen = signal<ReadonlySet<string>>(new Set(JSON.parse(localStorage.getItem('seen') ?? '[]') as string[]))
const keyOf = ({ id, at }: InboxItem) => `${id} ${at}`
const KEPT = 500

export const isRead = (item: InboxItem) => seen.value.has(keyOf(item))

export function markRead(item: InboxItem): void {
  if (seen.peek().has(keyOf(item))) return
  seen.value = new Set([...seen.peek(), keyOf(item)].slice(-KEPT))
  localStorage.setItem('seen', JSON.stringify([...seen.peek()]))
}
