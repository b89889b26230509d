import chevron from 'lucide-static/icons/chevron-right.svg'
import wallet from 'lucide-static/icons/circle-dollar-sign.svg'
import x from 'lucide-static/icons/x.svg'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { plainText, spendOf } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { StatusGlyph } from '../../kit/status.tsx'
import { Ago } from '../../kit/time.tsx'
import { agents, company, ensureIssue, issues, may, nameOf, pathTo } from '../../state/company.ts'
import { approvals, type InboxItem, markRead } from '../../state/inbox.ts'
import { DecisionButtons } from '../approvals/decision.tsx'
import { approvalSummary, approvalTitle } from '../approvals/meaning.tsx'
import { closeIssue } from '../issues/change.ts'
import { placeOf, repair } from './repair.ts'

interface LineProps {
  item: InboxItem
  isOpen: boolean
  onToggle: () => void
  onReply: () => void
  onDismiss: () => void
}

/** An inbox item as one line, with its actions. */
export function InboxLine(props: LineProps) {
  const { item } = props
  useEffect(() => {
    if (item.kind === 'assigned') ensureIssue(item.issueId)
  }, [item.issueId])
  switch (item.kind) {
    case 'approval':
      return <ApprovalLine {...props} />
    case 'question':
      return <QuestionLine {...props} />
    case 'mention':
      return <MentionLine {...props} />
    case 'failure':
      return <FailureLine {...props} />
    case 'budget':
      return <BudgetLine {...props} />
    default:
      return <IssueLine {...props} />
  }
}

/** The common parts of a line: the link, the time, the actions and the dismiss button. */
function Line({
  item,
  onDismiss,
  children,
  actions,
}: LineProps & { children: ComponentChildren; actions: ComponentChildren }) {
  return (
    <div class="inbox-line">
      <a class="inbox-main" href={placeOf(item)} onClick={() => markRead(item)}>
        {children}
        <span class="when">
          <Ago at={item.at} />
        </span>
      </a>
      <span class="inbox-acts">
        {actions}
        <Button kind="quiet" icon={x} label={`Dismiss: ${item.title}`} onClick={onDismiss} />
      </span>
    </div>
  )
}

function ApprovalLine({ item, isOpen, onToggle }: LineProps) {
  const approval = approvals.get(item.approvalId)
  return (
    <div class="inbox-line">
      <button type="button" class="inbox-main" aria-expanded={isOpen} onClick={onToggle}>
        <span class="fold">
          <Icon svg={chevron} size={14} />
        </span>
        <b>{approval ? approvalTitle(approval) : item.title}</b>
        <span class="note clip">{approval && approvalSummary(approval)}</span>
        <span class="when">
          <Ago at={item.at} />
        </span>
      </button>
      <span class="inbox-acts">{approval && <DecisionButtons approval={approval} hasKeys />}</span>
    </div>
  )
}

function QuestionLine({ item, isOpen, onToggle }: LineProps) {
  const agent = agents.get(item.agentId)
  return (
    <div class="inbox-line">
      <button type="button" class="inbox-main" aria-expanded={isOpen} onClick={onToggle}>
        <span class="fold">
          <Icon svg={chevron} size={14} />
        </span>
        {agent && <Avatar name={agent.name} status={agent.status} />}
        <span class="id">{item.issueIdentifier}</span>
        <b>{item.title}</b>
        <span class="when">
          <Ago at={item.at} />
        </span>
      </button>
      <span class="inbox-acts">
        <Button href={placeOf(item)} kind="quiet">
          Open
        </Button>
        {may('member') && (
          <Button hint="r" onClick={onToggle}>
            Answer
          </Button>
        )}
      </span>
    </div>
  )
}

function MentionLine(props: LineProps) {
  const { item, onReply } = props
  const agent = agents.get(item.agentId)
  const author = agent?.name ?? item.title.split(' mentioned you')[0]!
  return (
    <Line
      {...props}
      actions={
        may('member') && (
          <Button hint="r" onClick={onReply}>
            Reply
          </Button>
        )
      }
    >
      <Avatar name={author} {...(agent ? { status: agent.status } : { isPerson: true })} />
      <b>{author}</b>
      <span class="id">{item.issueIdentifier}</span>
      <span class="clip">{plainText(item.body ?? '')}</span>
    </Line>
  )
}

function FailureLine(props: LineProps) {
  const { item } = props
  const agent = agents.get(item.agentId)
  if (item.agentId === null) return <WebhookLine {...props} />
  if (!agent) return null
  return (
    <Line
      {...props}
      actions={
        <>
          <Button href={pathTo(`agents/${agent.urlKey}?tab=configuration`)}>Configure</Button>
          {may(agent.status === 'paused' ? 'admin' : 'member') && (
            <Button hint="t" onClick={() => void repair(item)}>
              {agent.status === 'paused' ? 'Resume' : 'Run again'}
            </Button>
          )}
        </>
      }
    >
      <Avatar name={agent.name} status={agent.status} />
      <b>{agent.name}</b>
      <span class="error clip">{item.body ?? item.title}</span>
    </Line>
  )
}

function WebhookLine(props: LineProps) {
  const { item } = props
  return (
    <Line {...props} actions={<Button href={placeOf(item)}>Webhooks</Button>}>
      <b>{item.title}</b>
      <span class="error clip">{item.body}</span>
    </Line>
  )
}

function BudgetLine(props: LineProps) {
  const { item } = props
  const agent = agents.get(item.agentId)
  const spender = agent ?? company.value
  if (!spender) return null
  return (
    <Line {...props} actions={<Button href={pathTo('costs')}>Set the budget</Button>}>
      {agent ? <Avatar name={agent.name} status={agent.status} /> : <Icon svg={wallet} />}
      <b>{spender.name}</b>
      <span class="clip">spent {spendOf(spender)} this month</span>
    </Line>
  )
}

function IssueLine(props: LineProps) {
  const { item } = props
  const issue = issues.get(item.issueId)
  const isStale = item.kind === 'stale'
  return (
    <Line
      {...props}
      actions={
        isStale
          ? may('member') && (
              <Button hint="t" onClick={() => void repair(item)}>
                Run {nameOf({ agentId: item.agentId })}
              </Button>
            )
          : issue &&
            may('member') && (
              <Button hint="d" onClick={() => void closeIssue(issue)}>
                Close as done
              </Button>
            )
      }
    >
      <StatusGlyph status={issue?.status ?? 'in_progress'} />
      <span class="id">{item.issueIdentifier}</span>
      <b>{item.title}</b>
      {isStale && <span class="note clip">{nameOf({ agentId: item.agentId })} has not touched it</span>}
    </Line>
  )
}
