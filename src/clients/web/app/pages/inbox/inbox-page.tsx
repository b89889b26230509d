import { useSignal } from '@preact/signals'
import chevron from 'lucide-static/icons/chevron-right.svg'
import { useEffect, useRef } from 'preact/hooks'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/field.tsx'
import { spendOf } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import { StatusGlyph } from '../../kit/status.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { company, isLoaded, may, pathTo } from '../../state/company.ts'
import { type InboxItem, inbox, isRead, loadInbox, markRead } from '../../state/inbox.ts'
import { useQuery } from '../../state/query.ts'
import type { Approval } from '../../state/types.ts'
import { resumeAgent, runAgent } from '../agents/actions.ts'
import { decide, type Outcome } from '../approvals/decide.ts'
import { ApprovalMeaning, approvalSummary, approvalTitle } from '../approvals/meaning.tsx'

const SECTIONS: readonly [InboxItem['kind'], string][] = [
  ['approval', 'Approvals'],
  ['error', 'Failed'],
  ['held', 'Held back'],
  ['issue', 'Assigned to you'],
  ['budget', 'Budgets'],
]

/** What waits for the person. Each item can be dealt with here, by a key too, and leaves when it is done. */
export function InboxPage() {
  const items = inbox.value
  const focused = useSignal<string | undefined>(undefined)
  const opened = useSignal<ReadonlySet<string>>(new Set())
  const noted = useSignal<{ approval: Approval; outcome: Outcome } | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)
  const ordered = SECTIONS.flatMap(([kind]) => items.filter((item) => item.kind === kind))
  const current = ordered.find(({ id }) => id === focused.value)
  const focus = (item: InboxItem | undefined) => {
    if (!item) return
    focused.value = item.id
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-key="${item.id}"] .inbox-main`)?.focus())
  }
  const move = (by: number) => {
    const index = ordered.findIndex(({ id }) => id === focused.peek())
    focus(ordered[Math.min(Math.max(index + by, 0), ordered.length - 1)])
  }
  /** Where the focus goes when an item leaves. */
  const leave = () => {
    const index = ordered.findIndex(({ id }) => id === focused.peek())
    focus(ordered[index + 1] ?? ordered[index - 1])
  }
  const onDecide = (approval: Approval, outcome: Outcome) => {
    if (outcome !== 'approved') {
      noted.value = { approval, outcome }
      return
    }
    leave()
    void decide(approval, outcome, null)
  }
  const decideNow = (outcome: Outcome) => () => {
    if (current?.kind === 'approval' && may('admin')) onDecide(current.approval, outcome)
  }
  const toggle = (item: InboxItem) => {
    markRead(item)
    const next = new Set(opened.peek())
    if (!next.delete(item.id)) next.add(item.id)
    opened.value = next
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
    key('r', 'Reject', decideNow('rejected')),
    key('v', 'Ask for a revision', decideNow('revision_requested')),
    key(
      't',
      'Try again',
      () => current && (current.kind === 'error' || current.kind === 'held') && void resumeOrRun(current),
    ),
    key('e', 'Mark as read', () => current && markRead(current)),
  ])
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
                <span class="num">{list.length}</span>
              </header>
              {list.map((item) => (
                <div
                  key={item.id}
                  data-key={item.id}
                  class={`inbox-item${isRead(item) ? '' : ' unread'}`}
                  onFocusIn={() => {
                    focused.value = item.id
                  }}
                >
                  <Line
                    item={item}
                    isOpen={opened.value.has(item.id)}
                    onToggle={() => toggle(item)}
                    onDecide={onDecide}
                  />
                  {item.kind === 'approval' && opened.value.has(item.id) && (
                    <ApprovalMeaning approval={item.approval} />
                  )}
                </div>
              ))}
            </section>
          )
        })}
        <Stale />
        {items.length === 0 && isLoaded.value && (
          <Empty title="Nothing waits for you." action={<Button href={pathTo('issues')}>Look at the issues</Button>}>
            Approvals, failures and what is assigned to you appear here.
          </Empty>
        )}
      </div>
      {noted.value && (
        <Note
          {...noted.value}
          onClose={(isSent) => {
            if (isSent) leave()
            noted.value = undefined
          }}
        />
      )}
    </Page>
  )
}

interface LineProps {
  item: InboxItem
  isOpen: boolean
  onToggle: () => void
  onDecide: (approval: Approval, outcome: Outcome) => void
}

function Line({ item, isOpen, onToggle, onDecide }: LineProps) {
  const when = (
    <span class="when">
      <Ago at={item.at} />
    </span>
  )
  const read = () => markRead(item)
  switch (item.kind) {
    case 'approval': {
      const { approval } = item
      return (
        <div class="inbox-line">
          <button type="button" class="inbox-main" aria-expanded={isOpen} onClick={onToggle}>
            <span class="fold">
              <Icon svg={chevron} size={14} />
            </span>
            <b>{approvalTitle(approval)}</b>
            <span class="note clip">{approvalSummary(approval)}</span>
            {when}
          </button>
          {may('admin') ? (
            <span class="inbox-acts">
              <Button kind="primary" hint="a" onClick={() => onDecide(approval, 'approved')}>
                {approval.type === 'hire_agent' ? 'Approve hire' : 'Approve'}
              </Button>
              <Button hint="r" onClick={() => onDecide(approval, 'rejected')}>
                Reject
              </Button>
              <Button kind="quiet" hint="v" onClick={() => onDecide(approval, 'revision_requested')}>
                Revise
              </Button>
            </span>
          ) : (
            <span class="note">An admin decides this.</span>
          )}
        </div>
      )
    }
    case 'error':
    case 'held': {
      const { agent } = item
      return (
        <div class="inbox-line">
          <a class="inbox-main" href={pathTo(`agents/${agent.urlKey}`)} onClick={read}>
            <Avatar name={agent.name} status={agent.status} />
            <b>{agent.name}</b>
            <span class={item.kind === 'error' ? 'error clip' : 'clip'}>
              {(item.kind === 'error' ? agent.errorReason : agent.pauseMessage) ??
                REASON[agent.pauseReason ?? 'manual']}
            </span>
            {when}
          </a>
          <span class="inbox-acts">
            <Button href={pathTo(`agents/${agent.urlKey}?tab=configuration`)}>Configure</Button>
            {may('member') && (
              <Button hint="t" onClick={() => void resumeOrRun(item)}>
                {item.kind === 'error' ? 'Run again' : 'Resume'}
              </Button>
            )}
          </span>
        </div>
      )
    }
    case 'issue': {
      const { issue } = item
      return (
        <div class="inbox-line">
          <a class="inbox-main" href={pathTo(`issues/${issue.identifier}`)} onClick={read}>
            <StatusGlyph status={issue.status} />
            <span class="id">{issue.identifier}</span>
            <b>{issue.title}</b>
            {when}
          </a>
          <span class="inbox-acts">
            <Button href={pathTo(`issues/${issue.identifier}`)}>Open</Button>
          </span>
        </div>
      )
    }
    case 'budget': {
      const { agent } = item
      return (
        <div class="inbox-line">
          <a class="inbox-main" href={pathTo(`agents/${agent.urlKey}`)} onClick={read}>
            <Avatar name={agent.name} status={agent.status} />
            <b>{agent.name}</b>
            <span class="clip">has spent {spendOf(agent)} this month</span>
            {when}
          </a>
          <span class="inbox-acts">
            <Button href={pathTo('costs')}>Set the budget</Button>
          </span>
        </div>
      )
    }
  }
}

const REASON = {
  manual: 'is paused',
  budget: 'has spent its budget of this month',
  failures: 'was paused after three failed runs in a row',
  loop: 'was paused: it ran again and again without a change',
}

const resumeOrRun = (item: Extract<InboxItem, { kind: 'error' | 'held' }>) =>
  item.kind === 'error' ? runAgent(item.agent) : resumeAgent(item.agent)

/** Asks for the reason of a refusal: the agent reads it. */
function Note({
  approval,
  outcome,
  onClose,
}: {
  approval: Approval
  outcome: Outcome
  onClose: (isSent: boolean) => void
}) {
  const text = useSignal('')
  const verb = outcome === 'rejected' ? 'Reject' : 'Ask for a revision'
  const send = () => {
    onClose(true)
    void decide(approval, outcome, text.peek().trim() || null)
  }
  return (
    <Dialog
      title={`${verb}: ${approvalTitle(approval)}`}
      onClose={() => onClose(false)}
      actions={
        <>
          <Button onClick={() => onClose(false)}>Cancel</Button>
          <Button kind={outcome === 'rejected' ? 'danger' : 'primary'} onClick={send}>
            {verb}
          </Button>
        </>
      }
    >
      <div class="dialog-body">
        <TextField
          label={outcome === 'rejected' ? 'Why' : 'What is to be changed'}
          hint="Who asked reads it."
          rows={4}
          autoFocus
          value={text.value}
          onInput={(value) => {
            text.value = value
          }}
        />
      </div>
    </Dialog>
  )
}

/** Work that nobody has touched for long. */
function Stale() {
  const companyId = company.value?.id
  useEffect(() => void loadInbox().catch(() => {}), [companyId])
  const query = useQuery(
    companyId && `stale/${companyId}`,
    () => request('GET /api/companies/:companyId/dashboard', { params: { companyId: companyId! } }),
    ({ type }) => type === 'run.finished',
  )
  const list = query.data.value?.staleTaskList ?? []
  if (list.length === 0) return null
  return (
    <section aria-label="Stale work">
      <header class="inbox-head">
        <h2>Stale work</h2>
        <span class="num">{list.length}</span>
      </header>
      {list.map((issue) => (
        <div key={issue.id} class="inbox-item">
          <div class="inbox-line">
            <a class="inbox-main" href={pathTo(`issues/${issue.identifier}`)}>
              <StatusGlyph status="in_progress" />
              <span class="id">{issue.identifier}</span>
              <b>{issue.title}</b>
              <span class="note">{issue.assigneeName} has not touched it</span>
              <span class="when">
                <Ago at={issue.updatedAt} />
              </span>
            </a>
          </div>
        </div>
      ))}
    </section>
  )
}
