import { Picker } from '../../kit/menu.tsx'
import { PriorityGlyph, STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { Ago } from '../../kit/time.tsx'
import { issues, isWorkedOn, may, pathTo, projects } from '../../state/company.ts'
import type { Issue } from '../../state/types.ts'
import { changeIssue, moveIssue } from './change.ts'
import {
  Assignee,
  assigneeName,
  assigneeOptions,
  Dot,
  NOBODY,
  priorityOptions,
  statusOptions,
  toAssignee,
} from './choices.tsx'

interface RowProps {
  id: string
  isSelected?: boolean
  /**
   * Selects the row. Without it, the row has no checkbox. Pass the same function to all rows
   * to avoid rendering them again.
   */
  onSelect?: ((id: string) => void) | undefined
  /** Whether the row displays the project. */
  hasProject?: boolean
}

/** An issue as one row of a list. Status, priority and assignee can be changed in place. */
export function IssueRow({ id, isSelected, onSelect, hasProject = true }: RowProps) {
  const issue = issues.row(id).value
  if (!issue) return null
  const isFixed = !may('member')
  const isLive = isWorkedOn(issue.id)
  const isClosed = issue.status === 'done' || issue.status === 'cancelled'
  const project = hasProject ? projects.get(issue.projectId) : undefined
  return (
    <div class={`issue-row${isClosed ? ' closed' : ''}${issue.unread ? ' unread' : ''}`}>
      {onSelect && (
        <input
          type="checkbox"
          class="row-check"
          aria-label={`Select ${issue.identifier}`}
          checked={isSelected}
          onChange={() => onSelect(id)}
          tabIndex={-1}
        />
      )}
      <Picker
        isGlyph
        label={`Priority: ${issue.priority}`}
        options={priorityOptions}
        value={issue.priority}
        isDisabled={isFixed}
        onPick={(priority) => void changeIssue(issue, { priority })}
      >
        <PriorityGlyph priority={issue.priority} />
      </Picker>
      <span class="id">{issue.identifier}</span>
      <StatusPicker issue={issue} />
      <a class="row-link" href={pathTo(`issues/${issue.identifier}`)} title={issue.title}>
        {issue.title}
        {issue.unread && <span class="hidden"> (unread)</span>}
      </a>
      {isLive && <span class="live-mark">live</span>}
      {issue.blockedBy.some(({ status }) => status !== 'done' && status !== 'cancelled') && (
        <span class="tag">waits for {issue.blockedBy[0]!.identifier}</span>
      )}
      <span class="row-end">
        {issue.labels.map((label) => (
          <span key={label.id} class="tag">
            <Dot color={label.color} />
            {label.name}
          </span>
        ))}
        {project && <span class="tag project">{project.name}</span>}
        <span class="when">
          <Ago at={issue.updatedAt} />
        </span>
        <Picker
          label={`Assignee: ${assigneeName(issue)}`}
          options={assigneeOptions}
          value={issue.assigneeAgentId ?? issue.assigneeUserId ?? NOBODY}
          isDisabled={isFixed}
          onPick={(picked) => void changeIssue(issue, toAssignee(picked))}
        >
          <Assignee agentId={issue.assigneeAgentId} userId={issue.assigneeUserId} />
        </Picker>
      </span>
    </div>
  )
}

export function StatusPicker({ issue, children }: { issue: Issue; children?: preact.ComponentChildren }) {
  return (
    <Picker
      isGlyph={!children}
      label={`Status: ${STATUS_NAME[issue.status]}`}
      options={statusOptions}
      value={issue.status}
      isDisabled={!may('member')}
      onPick={(status) => void moveIssue(issue, status)}
    >
      <StatusGlyph status={issue.status} />
      {children}
    </Picker>
  )
}
