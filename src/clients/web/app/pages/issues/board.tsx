import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { number } from '../../kit/format.ts'
import { useVirtual } from '../../kit/list.tsx'
import { Picker } from '../../kit/menu.tsx'
import { type IssueStatus, PriorityGlyph, STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { Ago } from '../../kit/time.tsx'
import { useCommands } from '../../state/commands.ts'
import { issues, liveRuns, may, pathTo, projects } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import type { Issue } from '../../state/types.ts'
import { changeIssue, moveIssue } from './change.ts'
import { Assignee, assigneeOptions, Dot, NOBODY, toAssignee } from './choices.tsx'
import type { Group } from './groups.ts'
import { StatusPicker } from './issue-row.tsx'

/** The height of a card and the gap below it, in pixels. */
const CARD = 98

/** The board: a column of issues for each status. A card can be dragged, or moved with its status picker. */
export function Board({ groups }: { groups: readonly Group[] }) {
  const box = useRef<HTMLDivElement>(null)
  useCommands(
    (
      [
        ['j', 'ArrowDown', 0, 1],
        ['k', 'ArrowUp', 0, -1],
        ['l', 'ArrowRight', 1, 0],
        ['h', 'ArrowLeft', -1, 0],
      ] as const
    ).flatMap(([letter, arrow, across, down]) =>
      [letter, arrow].map((keys) => ({
        id: `board.${keys}`,
        title:
          down !== 0 ? `Move ${down > 0 ? 'down' : 'up'}` : `Move to the ${across > 0 ? 'next' : 'previous'} column`,
        keys,
        group: 'Board',
        isKeyOnly: true,
        run: () => moveFocus(box.current!, across, down),
      })),
    ),
  )
  return (
    <div ref={box} class="board">
      {groups.map((group) => (
        <Column key={group.status} group={group} />
      ))}
    </div>
  )
}

/** Moves the focus between cards, by columns and rows. */
function moveFocus(board: HTMLElement, across: number, down: number): void {
  const columns = [...board.querySelectorAll<HTMLElement>('.column')]
    .map((column) => [...column.querySelectorAll<HTMLElement>('.row-link')].toSorted((a, b) => top(a) - top(b)))
    .filter((cards) => cards.length > 0)
  const active = document.activeElement
  const from = columns.findIndex((cards) => cards.includes(active as HTMLElement))
  if (from === -1) {
    columns[0]?.[0]?.focus()
    return
  }
  const row = columns[from]!.indexOf(active as HTMLElement)
  const cards = columns[Math.min(Math.max(from + across, 0), columns.length - 1)]!
  cards[Math.min(Math.max(row + down, 0), cards.length - 1)]!.focus()
}

const top = (element: HTMLElement) => element.getBoundingClientRect().top

function Column({ group }: { group: Group }) {
  const box = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const isOver = useSignal(false)
  const rows = group.rows.value
  const virtualizer = useVirtual({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD,
    getItemKey: useCallback((index: number) => rows[index]!.id, [rows]),
    overscan: 6,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 5) group.more()
  }, [last, rows.length])
  useEffect(
    () =>
      dropTargetForElements({
        element: box.current!,
        canDrop: ({ source }) => typeof source.data.issueId === 'string',
        onDragEnter: () => {
          isOver.value = true
        },
        onDragLeave: () => {
          isOver.value = false
        },
        onDrop: ({ source }) => {
          isOver.value = false
          const issue = issues.row(source.data.issueId as string).peek()
          if (issue) void moveIssue(issue, group.status)
        },
      }),
    [group.status],
  )
  return (
    <section ref={box} class={`column${isOver.value ? ' over' : ''}`} aria-label={STATUS_NAME[group.status]}>
      <header>
        <StatusGlyph status={group.status} />
        <h2>{STATUS_NAME[group.status]}</h2>
        <span class="num">{number(group.total.value ?? rows.length)}</span>
        {may('member') && (
          <Button
            kind="quiet"
            icon={plus}
            label={`New issue: ${STATUS_NAME[group.status]}`}
            onClick={() => openNewIssue({ status: group.status as IssueStatus })}
          />
        )}
      </header>
      <div ref={scroller} class="column-rows">
        <div role="list" aria-label={STATUS_NAME[group.status]} style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {items.map(({ index, key, start }) => (
            <div key={key} role="listitem" class="card-place" style={{ top: `${start}px` }}>
              {rows[index] && <Card issue={rows[index]} />}
            </div>
          ))}
        </div>
      </div>
    </section>
  )
}

function Card({ issue }: { issue: Issue }) {
  const box = useRef<HTMLDivElement>(null)
  const isDragged = useSignal(false)
  useEffect(() => {
    if (!may('member')) return
    return draggable({
      element: box.current!,
      getInitialData: () => ({ issueId: issue.id }),
      onDragStart: () => {
        isDragged.value = true
      },
      onDrop: () => {
        isDragged.value = false
      },
    })
  }, [issue.id])
  const isLive = liveRuns.value.some((run) => run.issueId === issue.id)
  const project = projects.get(issue.projectId)
  return (
    <div ref={box} class={`card${isDragged.value ? ' dragged' : ''}`}>
      <div class="card-head">
        <span class="id">{issue.identifier}</span>
        {isLive && <span class="live-mark">live</span>}
        <Picker
          label="Assignee"
          options={assigneeOptions}
          value={issue.assigneeAgentId ?? issue.assigneeUserId ?? NOBODY}
          isDisabled={!may('member')}
          onPick={(id) => void changeIssue(issue, toAssignee(id))}
        >
          <Assignee agentId={issue.assigneeAgentId} userId={issue.assigneeUserId} />
        </Picker>
      </div>
      <a class="row-link" href={pathTo(`issues/${issue.identifier}`)} draggable={false}>
        {issue.title}
      </a>
      <div class="card-foot">
        <PriorityGlyph priority={issue.priority} />
        <StatusPicker issue={issue} />
        {issue.labels.map((label) => (
          <Dot key={label.id} color={label.color} />
        ))}
        {project && <span class="clip">{project.name}</span>}
        <span class="when">
          <Ago at={issue.updatedAt} />
        </span>
      </div>
    </div>
  )
}
