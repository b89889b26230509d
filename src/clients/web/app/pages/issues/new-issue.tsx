import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { words } from '../../kit/format.ts'
import { type IssueStatus, type Priority, PriorityGlyph, STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { reasonOf } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, issues, pathTo, projects } from '../../state/company.ts'
import { type IssueDraft, issueDraft } from '../../state/dialogs.ts'
import { toast } from '../../state/toasts.ts'
import {
  Assignee,
  assigneeOptions,
  Chip,
  NOBODY,
  priorityOptions,
  projectOptions,
  statusOptions,
  toAssignee,
} from './choices.tsx'

/** The dialog that creates an issue. The frame mounts it once. */
export function NewIssue() {
  return issueDraft.value ? <Form known={issueDraft.value} /> : null
}

function Form({ known }: { known: IssueDraft }) {
  const { route } = useLocation()
  const title = useSignal('')
  const description = useSignal('')
  const status = useSignal<IssueStatus>(known.status ?? 'todo')
  const priority = useSignal<Priority>('medium')
  const assignee = useSignal(known.assignee ?? NOBODY)
  const projectId = useSignal(known.projectId ?? NOBODY)
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  const close = () => {
    issueDraft.value = undefined
  }
  const submit = async () => {
    if (title.value.trim() === '') {
      error.value = 'An issue needs a title.'
      input.current?.focus()
      return
    }
    isBusy.value = true
    try {
      const issue = await request('POST /api/companies/:companyId/issues', {
        params: { companyId: companyIdNow() },
        body: {
          title: title.value.trim(),
          ...(description.value.trim() !== '' && { description: description.value.trim() }),
          status: status.value,
          priority: priority.value,
          ...toAssignee(assignee.value),
          ...(projectId.value !== NOBODY && { projectId: projectId.value }),
          ...(known.goalId && { goalId: known.goalId }),
          ...(known.parentId && { parentId: known.parentId }),
        },
      })
      issues.put(issue)
      close()
      toast(`${issue.identifier} was created.`)
      if (!known.parentId) route(pathTo(`issues/${issue.identifier}`))
    } catch (thrown) {
      error.value = reasonOf(thrown)
    } finally {
      isBusy.value = false
    }
  }
  const agent = agents.get(assignee.value)
  const who = toAssignee(assignee.value)
  return (
    <Dialog
      title={known.parentId ? 'New sub-issue' : 'New issue'}
      width={640}
      onClose={close}
      actions={
        <>
          <span class="note">{agent && status.value !== 'backlog' ? `Wakes ${agent.name}.` : ''}</span>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" hint="Ctrl ↵" isDisabled={isBusy.value} onClick={() => void submit()}>
            Create issue
          </Button>
        </>
      }
    >
      <div
        class="draft"
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && void submit()}
      >
        <input
          ref={input}
          class="draft-title"
          placeholder="Title"
          aria-label="Title"
          aria-invalid={error.value !== undefined}
          autofocus
          value={title.value}
          onInput={(event) => {
            title.value = event.currentTarget.value
          }}
          onKeyDown={(event) => event.key === 'Enter' && !event.ctrlKey && !event.metaKey && void submit()}
        />
        <textarea
          class="draft-text"
          placeholder="The task and its acceptance criteria, in Markdown."
          aria-label="Description"
          rows={6}
          value={description.value}
          onInput={(event) => {
            description.value = event.currentTarget.value
          }}
        />
        {error.value && (
          <p class="error" role="alert">
            {error.value}
          </p>
        )}
        <div class="chips">
          <Chip
            label="Status"
            options={statusOptions}
            value={status.value}
            onPick={(value) => {
              status.value = value
            }}
          >
            <StatusGlyph status={status.value} /> {STATUS_NAME[status.value]}
          </Chip>
          <Chip
            label="Priority"
            options={priorityOptions}
            value={priority.value}
            onPick={(value) => {
              priority.value = value
            }}
          >
            <PriorityGlyph priority={priority.value} /> {words(priority.value)}
          </Chip>
          <Chip
            label="Assignee"
            options={assigneeOptions}
            value={assignee.value}
            onPick={(value) => {
              assignee.value = value
            }}
          >
            <Assignee agentId={who.assigneeAgentId} userId={who.assigneeUserId} isNamed />
          </Chip>
          <Chip
            label="Project"
            options={projectOptions}
            value={projectId.value}
            onPick={(value) => {
              projectId.value = value
            }}
          >
            {projects.get(projectId.value)?.name ?? 'No project'}
          </Chip>
        </div>
      </div>
    </Dialog>
  )
}
