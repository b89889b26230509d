import { Button } from '../../kit/button.tsx'
import { words } from '../../kit/format.ts'
import { Picker } from '../../kit/menu.tsx'
import { PriorityGlyph, STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { Ago } from '../../kit/time.tsx'
import { may, nameOf, pathTo, projects } from '../../state/company.ts'
import { openNewLabel } from '../../state/dialogs.ts'
import type { Issue, IssueDetail } from '../../state/types.ts'
import { changeIssue, moveIssue } from '../issues/change.ts'
import {
  Assignee,
  assigneeOptions,
  Dot,
  goalOptions,
  labelOptions,
  NOBODY,
  priorityOptions,
  projectOptions,
  statusOptions,
  toAssignee,
} from '../issues/choices.tsx'
import { Blockers } from './blockers.tsx'
import { toggleLabel } from './commands.ts'
import { openWhy } from './why.tsx'

const NEW = 'new'

/** The properties of an issue. A click on a property changes it. */
export function Properties({ issue, detail }: { issue: Issue; detail: IssueDetail }) {
  const isFixed = !may('member')
  const orNull = (id: string) => (id === NOBODY ? null : id)
  return (
    <aside class="properties" aria-label="Properties">
      <dl>
        <dt>Status</dt>
        <dd>
          <Picker
            label="Status"
            options={statusOptions}
            value={issue.status}
            isDisabled={isFixed}
            onPick={(status) => void moveIssue(issue, status)}
          >
            <StatusGlyph status={issue.status} /> {STATUS_NAME[issue.status]}
          </Picker>
          <Button kind="quiet" class="why-button" onClick={() => openWhy(issue)}>
            Why?
          </Button>
        </dd>
        <dt>Priority</dt>
        <dd>
          <Picker
            label="Priority"
            options={priorityOptions}
            value={issue.priority}
            isDisabled={isFixed}
            onPick={(priority) => void changeIssue(issue, { priority })}
          >
            <PriorityGlyph priority={issue.priority} /> {words(issue.priority)}
          </Picker>
        </dd>
        <dt>Assignee</dt>
        <dd>
          <Picker
            label="Assignee"
            options={assigneeOptions}
            value={issue.assigneeAgentId ?? issue.assigneeUserId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeIssue(issue, toAssignee(id))}
          >
            <Assignee agentId={issue.assigneeAgentId} userId={issue.assigneeUserId} isNamed />
          </Picker>
        </dd>
        <dt>Labels</dt>
        <dd>
          <Picker
            label="Labels"
            isMultiple
            options={() => [...labelOptions(), { value: NEW, label: 'New label…' }]}
            value={issue.labelIds}
            isDisabled={isFixed}
            onPick={(id) =>
              id === NEW
                ? openNewLabel((label) => changeIssue(issue, { labelIds: toggleLabel(issue, label.id) }))
                : void changeIssue(issue, { labelIds: toggleLabel(issue, id) })
            }
          >
            {issue.labels.length === 0 ? (
              <span class="none">None</span>
            ) : (
              issue.labels.map((label) => (
                <span key={label.id} class="tag">
                  <Dot color={label.color} />
                  {label.name}
                </span>
              ))
            )}
          </Picker>
        </dd>
        <dt>Project</dt>
        <dd>
          <Picker
            label="Project"
            options={projectOptions}
            value={issue.projectId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeIssue(issue, { projectId: orNull(id) })}
          >
            {projects.get(issue.projectId)?.name ?? <span class="none">None</span>}
          </Picker>
        </dd>
        <dt>Goal</dt>
        <dd>
          <Picker
            label="Goal"
            options={goalOptions}
            value={issue.goalId ?? NOBODY}
            isDisabled={isFixed}
            onPick={(id) => void changeIssue(issue, { goalId: orNull(id) })}
          >
            {detail.goal && detail.goal.id === issue.goalId ? (
              <span class="clip">{detail.goal.title}</span>
            ) : (
              <span class="none">None</span>
            )}
          </Picker>
        </dd>
      </dl>
      <Blockers issue={issue} />
      <dl class="facts">
        <dt>Created</dt>
        <dd>
          <Ago at={issue.createdAt} /> by {nameOf({ agentId: issue.createdByAgentId, userId: issue.createdByUserId })}
        </dd>
        {issue.startedAt && (
          <>
            <dt>Started</dt>
            <dd>
              <Ago at={issue.startedAt} />
            </dd>
          </>
        )}
        {issue.completedAt && (
          <>
            <dt>Done</dt>
            <dd>
              <Ago at={issue.completedAt} />
            </dd>
          </>
        )}
        <dt>Updated</dt>
        <dd>
          <Ago at={issue.updatedAt} />
        </dd>
      </dl>
      {detail.ancestors[0] && (
        <a class="parent-link" href={pathTo(`issues/${detail.ancestors[0].identifier}`)}>
          Sub-issue of {detail.ancestors[0].identifier}
        </a>
      )}
    </aside>
  )
}
