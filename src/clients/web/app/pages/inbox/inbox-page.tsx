import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { number } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { useCommands } from '../../state/commands.ts'
import { issues, may, pathTo } from '../../state/company.ts'
import { approvals, dismiss, type InboxItem, inbox, isInboxLoaded, markRead } from '../../state/inbox.ts'
import { beginDecision, type Details, type Outcome } from '../approvals/decide.ts'
import { ApprovalMeaning } from '../approvals/meaning.tsx'
import { closeIssue } from '../issues/change.ts'
import { QuestionById } from '../questions/questions.tsx'
import { InboxLine } from './inbox-line.tsx'
import { placeOf, repair } from './repair.ts'
import { Reply } from './reply.tsx'

const SECTIONS: readonly [InboxItem['kind'], string][] = [
  ['approval', 'Approvals'],
  ['question', 'Questions'],
  ['mention', 'Mentions'],
  ['failure', 'Failed'],
  ['assigned', 'Assigned to you'],
  ['budget', 'Budgets'],
  ['stale', 'Stale work'],
]

/** The inbox of the person. Each item can be resolved here, also by keyboard, and is removed when it is resolved. */
export function InboxPage() {
  const { route } = useLocation()
  const items = inbox.value
  const focused = useSignal<string | undefined>(undefined)
  const opened = useSignal<ReadonlySet<string>>(new Set())
  const answered = useSignal<string | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)
  const ordered = SECTIONS.flatMap(([kind]) => items.filter((item) => item.kind === kind))
  // When an item is removed, the focus moves to the item at its position.
  const last = useRef(0)
  const index = ordered.findIndex(({ id }) => id === focused.value)
  if (index >= 0) last.current = index
  const current = index >= 0 ? ordered[index] : focused.value === undefined ? undefined : ordered[last.current]
  const focus = (item: InboxItem | undefined) => {
    if (!item) return
    focused.value = item.id
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-key="${item.id}"] .inbox-main`)?.focus())
  }
  const move = (by: number) => {
    const from = current ? ordered.indexOf(current) : -1
    focus(ordered[Math.min(Math.max(from + by, 0), ordered.length - 1)])
  }
  const leave = () => {
    if (current) focus(ordered[ordered.indexOf(current) + 1] ?? ordered[ordered.indexOf(current) - 1])
  }
  const decideNow = (outcome: Outcome, details?: Details) => () => {
    const approval = current?.approvalId ? approvals.row(current.approvalId).peek() : undefined
    if (!approval || !may('admin')) return
    if (outcome === 'approved') leave()
    beginDecision(approval, outcome, details)
  }
  const toggle = (item: InboxItem) => {
    markRead(item)
    const next = new Set(opened.peek())
    if (!next.delete(item.id)) next.add(item.id)
    opened.value = next
  }
  const remove = (item: InboxItem) => {
    // An agent waits for the decision or the response, so the item stays until there is one.
    if (item.kind === 'approval' || item.kind === 'question') return
    if (item.id === current?.id) leave()
    dismiss(item)
  }
  const reply = (item: InboxItem) => {
    markRead(item)
    answered.value = item.id
  }
  /** `r` rejects an approval and replies to a mention, as the buttons display. */
  const onR = () => {
    if (current?.kind === 'mention') reply(current)
    else if (current?.kind === 'question') toggle(current)
    else decideNow('rejected')()
  }
  const onD = () => {
    const issue = current?.kind === 'assigned' ? issues.row(current.issueId ?? '').peek() : undefined
    if (!issue || !may('member')) return
    leave()
    void closeIssue(issue)
  }
  const key = (keys: string, title: string, run: () => void) => ({
    id: `inbox.${keys}`,
    title,
    keys,
    group: 'Inbox',
    isKeyOnly: true,
    run,
  })
  useCommands([
    key('j', 'Next item', () => move(1)),
    key('k', 'Previous item', () => move(-1)),
    key('ArrowDown', 'Next item', () => move(1)),
    key('ArrowUp', 'Previous item', () => move(-1)),
    key('a', 'Approve', decideNow('approved')),
    key('shift+a', 'Always allow the folder', decideNow('approved', { allow: 'always' })),
    key('r', 'Reject, or reply', onR),
    key('v', 'Request a revision', decideNow('revision_requested')),
    key('t', 'Try again', () => current && void repair(current)),
    key('d', 'Close the issue as done', onD),
    key('o', 'Open', () => current && route(placeOf(current))),
    key('e', 'Dismiss', () => current && remove(current)),
    key('u', 'Mark as read or unread', () => current && markRead(current, current.readAt === null)),
    ...(items.some(({ readAt }) => readAt === null)
      ? [
          {
            id: 'inbox.read',
            title: 'Mark everything as read',
            keys: 'shift+u',
            group: 'Inbox',
            run: () => {
              for (const item of items) markRead(item)
            },
          },
        ]
      : []),
  ])
  if (!isInboxLoaded.value) {
    return (
      <Page title="Inbox" layout="list">
        <Skeleton rows={6} height={44} />
      </Page>
    )
  }
  return (
    <Page title="Inbox" layout="list">
      <div ref={box} class="inbox-list">
        {SECTIONS.map(([kind, title]) => {
          const list = items.filter((item) => item.kind === kind)
          if (list.length === 0) return null
          return (
            <section key={kind} aria-label={title}>
              <header class="inbox-head">
                <h2>{title}</h2>
                <span class="num">{number(list.length)}</span>
              </header>
              {list.map((item) => (
                <div
                  key={item.id}
                  data-key={item.id}
                  class={`inbox-item${item.readAt ? '' : ' unread'}`}
                  onFocusIn={() => {
                    focused.value = item.id
                  }}
                >
                  <InboxLine
                    item={item}
                    isOpen={opened.value.has(item.id)}
                    onToggle={() => toggle(item)}
                    onReply={() => reply(item)}
                    onDismiss={() => remove(item)}
                  />
                  {opened.value.has(item.id) && <Opened item={item} />}
                  {answered.value === item.id && (
                    <Reply
                      item={item}
                      onClose={(isSent) => {
                        answered.value = undefined
                        if (isSent) remove(item)
                        else focus(item)
                      }}
                    />
                  )}
                </div>
              ))}
            </section>
          )
        })}
        {items.length === 0 && (
          <Empty title="Your inbox is empty." action={<Button href={pathTo('issues')}>Open the issues</Button>}>
            Approvals, mentions, failures and what is assigned to you appear here.
          </Empty>
        )}
      </div>
    </Page>
  )
}

function Opened({ item }: { item: InboxItem }) {
  if (item.kind === 'question' && item.issueId && item.interactionId)
    return <QuestionById issueId={item.issueId} interactionId={item.interactionId} />
  const approval = approvals.get(item.approvalId)
  return approval ? <ApprovalMeaning approval={approval} /> : null
}
