import { useSignal } from '@preact/signals'
import columns from 'lucide-static/icons/columns-3.svg'
import listIcon from 'lucide-static/icons/list.svg'
import plus from 'lucide-static/icons/plus.svg'
import { useCallback } from 'preact/hooks'
import { lazy, useLocation } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { number } from '../../kit/format.ts'
import { AHEAD, List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Failure, Skeleton } from '../../kit/states.tsx'
import { STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { useCommands } from '../../state/commands.ts'
import { may, pathTo } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import type { Issue } from '../../state/types.ts'
import { BulkBar } from './bulk-bar.tsx'
import { type Filter, isFiltered, readFilter, toQuery } from './filter.ts'
import { FilterBar } from './filter-bar.tsx'
import { type Group, type Groups, useGroups } from './groups.ts'
import { IssueRow } from './issue-row.tsx'

/** The issues of the company, as a list by status or as a board. The address contains the filter. */
export function IssuesPage() {
  const { query, route } = useLocation()
  const filter = readFilter(query)
  const groups = useGroups(filter)
  const change = (changed: Partial<Filter>) => route(`${pathTo('issues')}${toQuery({ ...filter, ...changed })}`, true)
  const other = filter.view === 'list' ? 'board' : 'list'
  useCommands([
    {
      id: 'issues.view',
      title: `Show the issues as a ${other}`,
      keys: 'v',
      group: 'Issues',
      run: () => change({ view: other }),
    },
    {
      id: 'issues.search',
      title: 'Filter by text',
      keys: 'f',
      group: 'Issues',
      run: () => document.querySelector<HTMLElement>('.search-field')?.focus(),
    },
    ...(isFiltered(filter)
      ? [
          {
            id: 'issues.clear',
            title: 'Clear the filter',
            group: 'Issues',
            run: () => route(pathTo('issues'), true),
          },
        ]
      : []),
  ])
  return (
    <Page
      title="Issues"
      layout="list"
      tools={<FilterBar filter={filter} onChange={change} />}
      actions={
        <>
          <span class="switch">
            <Button
              kind="quiet"
              icon={listIcon}
              label="List"
              isPressed={filter.view === 'list'}
              onClick={() => change({ view: 'list' })}
            />
            <Button
              kind="quiet"
              icon={columns}
              label="Board"
              isPressed={filter.view === 'board'}
              onClick={() => change({ view: 'board' })}
            />
          </span>
          {may('member') && (
            <Button kind="primary" icon={plus} hint="c" onClick={() => openNewIssue(draftOf(filter))}>
              New issue
            </Button>
          )}
        </>
      }
    >
      <Content filter={filter} groups={groups} onClear={() => route(pathTo('issues'), true)} />
    </Page>
  )
}

/** The board, loaded on first use because it needs a library. */
const Board = lazy(() => import('./board.tsx').then((m) => m.Board))

/** Returns the defaults of a new issue from the active filter. */
const draftOf = ({ assignee, projectId, goalId }: Filter) => ({ assignee, projectId, goalId })

function Content({ filter, groups, onClear }: { filter: Filter; groups: Groups; onClear: () => void }) {
  const { list, isLoaded, isSlow, error } = groups
  if (!isLoaded.value) {
    if (error.value) return <Failure error={error.value} onRetry={groups.reload} />
    return isSlow.value ? <Skeleton rows={14} /> : null
  }
  if (list.every((group) => group.rows.value.length === 0)) {
    return isFiltered(filter) ? (
      <Empty title="No issue matches this filter." action={<Button onClick={onClear}>Clear the filter</Button>} />
    ) : (
      <Empty
        title="No work yet."
        action={
          may('member') && (
            <Button kind="primary" hint="c" onClick={() => openNewIssue({})}>
              Write the first issue
            </Button>
          )
        }
      >
        An issue describes a task. Assign it to an agent, and the agent starts.
      </Empty>
    )
  }
  return filter.view === 'board' ? <Board groups={list} /> : <ListView key={toQuery(filter)} groups={list} />
}

type Row = { key: string; group: Group } & ({ kind: 'head' } | { kind: 'issue'; issue: Issue } | { kind: 'more' })

const HEAD_HEIGHT = 36

function ListView({ groups }: { groups: readonly Group[] }) {
  const selection = useSignal<ReadonlySet<string>>(new Set())
  const toggle = useCallback((id: string) => {
    const next = new Set(selection.peek())
    if (!next.delete(id)) next.add(id)
    selection.value = next
  }, [])
  const rows = groups.flatMap((group): Row[] => {
    const issues = group.rows.value
    if (issues.length === 0) return []
    return [
      { kind: 'head', key: group.status, group },
      ...issues.map((issue): Row => ({ kind: 'issue', key: issue.id, group, issue })),
      ...(group.hasMore.value ? [{ kind: 'more', key: `more-${group.status}`, group } as Row] : []),
    ]
  })
  return (
    <>
      <List
        id="issues"
        label="Issues"
        rows={rows}
        keyOf={({ key }) => key}
        heightOf={({ kind }) => (kind === 'head' ? HEAD_HEIGHT : 32)}
        isItem={({ kind }) => kind === 'issue'}
        selection={selection}
        onSelect={(keys) => {
          selection.value = keys
        }}
        onShown={(last) => {
          const next = rows.slice(last, last + AHEAD).find(({ kind }) => kind === 'more')
          next?.group.more()
        }}
      >
        {(row, { isSelected }) => {
          if (row.kind === 'head') return <GroupHead group={row.group} />
          if (row.kind === 'more') return <div class="more-row">Loading more…</div>
          return <IssueRow id={row.issue.id} isSelected={isSelected} onSelect={may('member') ? toggle : undefined} />
        }}
      </List>
      <BulkBar selection={selection} />
    </>
  )
}

function GroupHead({ group }: { group: Group }) {
  return (
    <div class="group-head">
      <StatusGlyph status={group.status} />
      <h2>{STATUS_NAME[group.status]}</h2>
      <span class="num">{number(group.total.value ?? group.rows.value.length)}</span>
      {may('member') && (
        <Button
          kind="quiet"
          icon={plus}
          label={`New issue: ${STATUS_NAME[group.status]}`}
          onClick={() => openNewIssue({ status: group.status })}
        />
      )}
    </div>
  )
}
