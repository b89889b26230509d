import { useSignal } from '@preact/signals'
import filterIcon from 'lucide-static/icons/list-filter.svg'
import x from 'lucide-static/icons/x.svg'
import { useEffect } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Picker } from '../../kit/menu.tsx'
import { STATUS_NAME } from '../../kit/status.tsx'
import { agents, goals, labels, nameOf, projects } from '../../state/company.ts'
import {
  assigneeOptions,
  Chip,
  goalOptions,
  labelOptions,
  NOBODY,
  priorityOptions,
  projectOptions,
  statusOptions,
} from './choices.tsx'
import { DEFAULT_STATUSES, type Filter } from './filter.ts'

interface FilterBarProps {
  filter: Filter
  onChange: (changed: Partial<Filter>) => void
}

/** The delay between the last keystroke and the search, in milliseconds. */
const REST_MS = 200

/** The filter that has no values. */
const UNREAD = 'unread'

/** A search field, a button that adds a filter, and a chip for each active filter. */
export function FilterBar({ filter, onChange }: FilterBarProps) {
  const text = useSignal(filter.q ?? '')
  const opened = useSignal<string | undefined>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => {
      const q = text.value.trim() || undefined
      if (q !== filter.q) onChange({ q })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [text.value])
  const someStatuses = filter.status.join() !== DEFAULT_STATUSES.join()
  const isOn: Record<string, boolean> = {
    status: someStatuses,
    assignee: filter.assignee !== undefined,
    priority: filter.priority !== undefined,
    project: filter.projectId !== undefined,
    goal: filter.goalId !== undefined,
    label: filter.labelId !== undefined,
    unread: filter.isUnread,
  }
  const displayed = (name: string) => isOn[name] || opened.value === name
  const off = (name: string, cleared: Partial<Filter>) => (
    <Button
      kind="quiet"
      icon={x}
      label={`Remove the filter by ${name}`}
      onClick={() => {
        opened.value = undefined
        onChange(cleared)
      }}
    />
  )
  const one = (value: string) => (value === NOBODY ? undefined : value)
  return (
    <div class="filters">
      <input
        class="search-field"
        type="search"
        placeholder="Filter by text"
        aria-label="Filter by text"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      <Picker
        label="Add a filter"
        class="button quiet"
        options={Object.keys(isOn)
          .filter((name) => !displayed(name))
          .map((value) => ({ value, label: words(value) }))}
        onPick={(name) => {
          if (name === UNREAD) onChange({ isUnread: true })
          else opened.value = name
        }}
      >
        <Icon svg={filterIcon} /> <span>Filter</span>
      </Picker>
      {filter.isUnread && (
        <span class="filter">
          <span class="chip on">Unread</span>
          {off(UNREAD, { isUnread: false })}
        </span>
      )}
      {displayed('status') && (
        <span class="filter">
          <Chip
            label="Status"
            isOn={someStatuses}
            isMultiple
            options={statusOptions}
            value={filter.status}
            onPick={(status) => {
              const next = filter.status.includes(status)
                ? filter.status.filter((one) => one !== status)
                : [...filter.status, status]
              onChange({ status: next.length === 0 ? DEFAULT_STATUSES : next })
            }}
          >
            Status: {someStatuses ? filter.status.map((status) => STATUS_NAME[status]).join(', ') : 'any'}
          </Chip>
          {off('status', { status: DEFAULT_STATUSES })}
        </span>
      )}
      {displayed('assignee') && (
        <span class="filter">
          <Chip
            label="Assignee"
            isOn={isOn.assignee!}
            options={assigneeOptions().slice(1)}
            value={filter.assignee}
            onPick={(assignee) => onChange({ assignee })}
          >
            Assignee:{' '}
            {filter.assignee ? (agents.get(filter.assignee)?.name ?? nameOf({ userId: filter.assignee })) : 'any'}
          </Chip>
          {off('assignee', { assignee: undefined })}
        </span>
      )}
      {displayed('priority') && (
        <span class="filter">
          <Chip
            label="Priority"
            isOn={isOn.priority!}
            options={priorityOptions}
            value={filter.priority}
            onPick={(priority) => onChange({ priority })}
          >
            Priority: {filter.priority ?? 'any'}
          </Chip>
          {off('priority', { priority: undefined })}
        </span>
      )}
      {displayed('project') && (
        <span class="filter">
          <Chip
            label="Project"
            isOn={isOn.project!}
            options={projectOptions().slice(1)}
            value={filter.projectId}
            onPick={(value) => onChange({ projectId: one(value) })}
          >
            Project: {projects.get(filter.projectId)?.name ?? 'any'}
          </Chip>
          {off('project', { projectId: undefined })}
        </span>
      )}
      {displayed('goal') && (
        <span class="filter">
          <Chip
            label="Goal"
            isOn={isOn.goal!}
            options={goalOptions().slice(1)}
            value={filter.goalId}
            onPick={(value) => onChange({ goalId: one(value) })}
          >
            Goal: {goals.get(filter.goalId)?.title ?? 'any'}
          </Chip>
          {off('goal', { goalId: undefined })}
        </span>
      )}
      {displayed('label') && (
        <span class="filter">
          <Chip
            label="Label"
            isOn={isOn.label!}
            options={labelOptions}
            value={filter.labelId}
            onPick={(value) => onChange({ labelId: value })}
          >
            Label: {labels.get(filter.labelId)?.name ?? 'any'}
          </Chip>
          {off('label', { labelId: undefined })}
        </span>
      )}
    </div>
  )
}
