import { useSignal } from '@preact/signals'
import check from 'lucide-static/icons/check.svg'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import more from 'lucide-static/icons/ellipsis.svg'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { EditableText, EditableTitle } from '../../kit/editable.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, type MenuItem } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { issues, may, pathTo } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import { afterPaint } from '../../state/idle.ts'
import { type Query, useQuery } from '../../state/query.ts'
import type { Issue, IssueDetail } from '../../state/types.ts'
import { changeIssue, closeIssue, moveIssue, setUnread } from '../issues/change.ts'
import { Questions } from '../questions/questions.tsx'
import { attach, filesOf } from './attach.ts'
import { Attachments } from './attachments.tsx'
import { Changes } from './changes.tsx'
import { copyIdentifier, copyLink, issueCommands, release } from './commands.ts'
import { Documents, NewDocument } from './documents.tsx'
import { LinkedApprovals } from './linked-approvals.tsx'
import { Properties } from './properties.tsx'
import { SubIssues } from './sub-issues.tsx'
import { Thread } from './thread.tsx'
import { openWhy, WhyDialog } from './why.tsx'

/** The page of an issue: its thread, and its properties on the side. */
export function IssuePage() {
  const { issueRef = '' } = useRoute().params
  const detail: Query<IssueDetail> = useQuery(
    `issue/${issueRef}`,
    async () => {
      const found = await request('GET /api/issues/:issueId', { params: { issueId: issueRef } })
      const { project, goal, ancestors, activeRun, ...row } = found
      issues.put(row)
      return found
    },
    ({ data }) => data.entityType === 'issue' && data.entityId === detail.data.peek()?.id,
  )
  const known = issues.all.value.find(({ identifier }) => identifier === issueRef)
  const title = known ? `${known.identifier} ${known.title}` : issueRef
  return (
    <Page
      title={title}
      heading={<span class="id">{issueRef}</span>}
      layout="list"
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the issues" href={pathTo('issues')} />}
      actions={known && <Actions issue={known} />}
    >
      <Loaded query={detail} skeleton={<Skeleton rows={10} />}>
        {(found) => <Content detail={found} issue={issues.get(found.id) ?? found} />}
      </Loaded>
    </Page>
  )
}

/** Marks an issue as read while it is on the screen. @returns a function that marks it as unread when the person leaves it */
function useReading(issue: Issue): () => void {
  const isLeft = useRef(false)
  useEffect(() => {
    if (!issue.unread) return undefined
    const read = () => document.hidden || isLeft.current || void setUnread(issue, false)
    afterPaint(read)
    document.addEventListener('visibilitychange', read, { once: true })
    return () => document.removeEventListener('visibilitychange', read)
  }, [issue.id, issue.unread])
  return () => {
    isLeft.current = true
    void setUnread(issue, true)
  }
}

function Content({ detail, issue }: { detail: IssueDetail; issue: Issue }) {
  const { route } = useLocation()
  const isOver = useSignal(false)
  const isWriting = useSignal(false)
  const write = () => {
    isWriting.value = true
  }
  const attachFiles = () => document.querySelector<HTMLElement>('.composer input[type=file]')?.click()
  /** Attaches files that are dropped outside the comment field to the issue. */
  const onDragOver = (event: DragEvent) => {
    if (!may('member') || !event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    isOver.value = true
  }
  const onDrop = (event: DragEvent) => {
    isOver.value = false
    const files = filesOf(event.dataTransfer)
    if (files.length === 0 || !may('member')) return
    event.preventDefault()
    void attach(issue.id, files)
  }
  const leaveUnread = useReading(issue)
  useCommands([
    {
      id: 'issue.unread',
      title: 'Mark as unread',
      keys: 'u',
      group: 'Issue',
      run: () => {
        leaveUnread()
        route(pathTo('issues'))
      },
    },
    {
      id: 'issue.why',
      title: 'Show the history',
      keys: 'w',
      group: 'Issue',
      run: () => openWhy(issue),
    },
    {
      id: 'issue.back',
      title: 'Back to the issues',
      keys: 'Escape',
      group: 'Issue',
      isKeyOnly: true,
      run: () => (history.length > 1 ? history.back() : route(pathTo('issues'))),
    },
    ...issueCommands(issue, { write, attachFiles }),
  ])
  return (
    <div
      class={`detail${isOver.value ? ' over' : ''}`}
      onDragOver={onDragOver}
      onDragLeave={() => {
        isOver.value = false
      }}
      onDrop={onDrop}
    >
      <div class="detail-main">
        <Trail detail={detail} />
        <EditableTitle
          key={issue.id}
          value={issue.title}
          isFixed={!may('member')}
          onSave={(title) => changeIssue(issue, { title })}
        />
        <Properties issue={issue} detail={detail} />
        <EditableText
          key={`text-${issue.id}`}
          value={issue.description ?? ''}
          isFixed={!may('member')}
          onSave={(description) => changeIssue(issue, { description: description || null })}
        />
        <Questions issue={issue} />
        <LinkedApprovals issue={issue} />
        <SubIssues issue={issue} />
        <Changes issue={issue} />
        <Documents issue={issue} />
        <Attachments issue={issue} />
        <Thread issue={issue} activeRunId={detail.activeRun?.id} />
      </div>
      <WhyDialog />
      {isWriting.value && (
        <NewDocument
          issue={issue}
          onClose={() => {
            isWriting.value = false
          }}
        />
      )}
    </div>
  )
}

/** The parent issue, project and goal. */
function Trail({ detail }: { detail: IssueDetail }) {
  const { ancestors, goal } = detail
  if (ancestors.length === 0 && !goal) return null
  return (
    <nav class="trail" aria-label="Part of">
      {goal && <a href={pathTo(`goals/${goal.id}`)}>{goal.title}</a>}
      {ancestors.toReversed().map((one) => (
        <a key={one.id} href={pathTo(`issues/${one.identifier}`)} title={one.title}>
          <span class="id">{one.identifier}</span> {one.title}
        </a>
      ))}
    </nav>
  )
}

function Actions({ issue }: { issue: Issue }) {
  if (!may('member')) return null
  const isClosed = issue.status === 'done' || issue.status === 'cancelled'
  const items: MenuItem[] = [
    { label: 'Show the history', note: 'W', run: () => openWhy(issue) },
    { label: 'Copy the link', run: () => copyLink(issue) },
    { label: 'Copy the identifier', run: () => copyIdentifier(issue) },
    {
      label: 'New sub-issue',
      note: 'Shift C',
      run: () => openNewIssue({ parentId: issue.id, projectId: issue.projectId ?? undefined }),
    },
    ...(issue.status === 'in_progress'
      ? [{ label: 'Release: back to todo, without an assignee', run: () => void release(issue) }]
      : []),
    ...(isClosed ? [] : [{ label: 'Cancel the issue', run: () => void moveIssue(issue, 'cancelled') }]),
  ]
  return (
    <>
      <Menu label="More actions" items={items}>
        <Icon svg={more} />
      </Menu>
      {isClosed ? (
        <Button onClick={() => void moveIssue(issue, 'todo')}>Reopen</Button>
      ) : (
        <Button icon={check} onClick={() => void closeIssue(issue)}>
          Close as done
        </Button>
      )}
    </>
  )
}
