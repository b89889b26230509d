import check from 'lucide-static/icons/check.svg'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import more from 'lucide-static/icons/ellipsis.svg'
import { useLocation, useRoute } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { EditableText, EditableTitle } from '../../kit/editable.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, type MenuItem } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { issues, may, pathTo } from '../../state/company.ts'
import { type Query, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue, IssueDetail } from '../../state/types.ts'
import { changeIssue, closeIssue, moveIssue } from '../issues/change.ts'
import { openNewIssue } from '../issues/new-issue.tsx'
import { Properties } from './properties.tsx'
import { SubIssues } from './sub-issues.tsx'
import { Thread } from './thread.tsx'

/** One issue: its thread, and its properties beside it. */
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

function Content({ detail, issue }: { detail: IssueDetail; issue: Issue }) {
  const { route } = useLocation()
  useCommands([
    {
      id: 'issue.back',
      title: 'Back to the issues',
      keys: 'Escape',
      group: 'Issue',
      isKeyOnly: true,
      run: () => (history.length > 1 ? history.back() : route(pathTo('issues'))),
    },
    ...(may('member')
      ? [
          {
            id: 'issue.comment',
            title: 'Write a comment',
            keys: 'r',
            group: 'Issue',
            run: () => document.querySelector<HTMLElement>('.composer textarea')?.focus(),
          },
          {
            id: 'issue.close',
            title: 'Close the issue as done',
            keys: 'shift+d',
            group: 'Issue',
            run: () => void closeIssue(issue),
          },
          {
            id: 'issue.sub',
            title: 'New sub-issue',
            keys: 'shift+c',
            group: 'Issue',
            run: () => openNewIssue({ parentId: issue.id, projectId: issue.projectId ?? undefined }),
          },
        ]
      : []),
  ])
  return (
    <div class="detail">
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
        <SubIssues issue={issue} />
        <Thread issue={issue} activeRunId={detail.activeRun?.id} />
      </div>
    </div>
  )
}

/** What the issue is a part of. */
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
  const link = `${location.origin}${pathTo(`issues/${issue.identifier}`)}`
  const items: MenuItem[] = [
    {
      label: 'Copy the link',
      run: () => void navigator.clipboard.writeText(link).then(() => toast('The link was copied.')),
    },
    {
      label: 'Copy the identifier',
      run: () =>
        void navigator.clipboard.writeText(issue.identifier).then(() => toast(`${issue.identifier} was copied.`)),
    },
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

async function release(issue: Issue): Promise<void> {
  const row = await act(() => request('POST /api/issues/:issueId/release', { params: { issueId: issue.id } }))
  if (row) issues.put(row)
}
