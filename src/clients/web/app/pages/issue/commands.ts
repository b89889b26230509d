import { words } from '../../kit/format.ts'
import { PRIORITIES, STATUS_NAME, STATUSES } from '../../kit/status.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import type { Command } from '../../state/commands.ts'
import { goals, issues, labels, may, pathTo, projects } from '../../state/company.ts'
import { openNewIssue, openNewLabel } from '../../state/dialogs.ts'
import { toast } from '../../state/toasts.ts'
import type { Issue } from '../../state/types.ts'
import { changeIssue, closeIssue, moveIssue } from '../issues/change.ts'
import { assigneeOptions, NOBODY, toAssignee } from '../issues/choices.tsx'

const copy = (text: string, printed: string) => void navigator.clipboard.writeText(text).then(() => toast(printed))

export const copyLink = (issue: Issue) =>
  copy(`${location.origin}${pathTo(`issues/${issue.identifier}`)}`, 'The link was copied.')

export const copyIdentifier = (issue: Issue) => copy(issue.identifier, `${issue.identifier} was copied.`)

/** Releases an issue: its status becomes todo and its assignee is removed. */
export async function release(issue: Issue): Promise<void> {
  const row = await act(() => request('POST /api/issues/:issueId/release', { params: { issueId: issue.id } }))
  if (row) issues.put(row)
}

/** @returns the ids of an issue's labels with the given one added, or removed if it was present */
export const toggleLabel = (issue: Issue, id: string) =>
  issue.labelIds.includes(id) ? issue.labelIds.filter((one) => one !== id) : [...issue.labelIds, id]

/** The commands of an issue, for the palette and the keys. */
export function issueCommands(
  issue: Issue,
  { write, attachFiles }: { write: () => void; attachFiles: () => void },
): Command[] {
  const group = 'Issue'
  const all: Command[] = [
    { id: 'issue.link', title: 'Copy the link', group, run: () => copyLink(issue) },
    { id: 'issue.identifier', title: 'Copy the identifier', group, run: () => copyIdentifier(issue) },
  ]
  if (!may('member')) return all
  const change = (id: string, title: string, changed: Parameters<typeof changeIssue>[1]): Command => ({
    id: `issue.${id}`,
    title,
    group,
    run: () => void changeIssue(issue, changed),
  })
  return [
    {
      id: 'issue.comment',
      title: 'Write a comment',
      keys: 'r',
      group,
      run: () => document.querySelector<HTMLElement>('.composer textarea')?.focus(),
    },
    {
      id: 'issue.close',
      title: 'Close the issue as done',
      keys: 'shift+d',
      group,
      run: () => void closeIssue(issue),
    },
    {
      id: 'issue.sub',
      title: 'New sub-issue',
      keys: 'shift+c',
      group,
      run: () => openNewIssue({ parentId: issue.id, projectId: issue.projectId ?? undefined }),
    },
    { id: 'issue.document', title: 'New document', group, run: write },
    { id: 'issue.attach', title: 'Attach files', group, run: attachFiles },
    ...STATUSES.filter((status) => status !== issue.status).map((status) => ({
      id: `issue.status.${status}`,
      title: `Move to ${STATUS_NAME[status]}`,
      group,
      run: () => void moveIssue(issue, status),
    })),
    ...(issue.status === 'in_progress'
      ? [{ id: 'issue.release', title: 'Release: back to todo', group, run: () => void release(issue) }]
      : []),
    ...assigneeOptions()
      .filter(({ value }) => value !== (issue.assigneeAgentId ?? issue.assigneeUserId ?? NOBODY))
      .map(({ value, label }) =>
        change(`assign.${value}`, value === NOBODY ? 'Unassign' : `Assign to ${label}`, toAssignee(value)),
      ),
    ...PRIORITIES.filter((priority) => priority !== issue.priority).map((priority) =>
      change(`priority.${priority}`, `Set the priority to ${words(priority).toLowerCase()}`, { priority }),
    ),
    ...labels.all.value.map(({ id, name }) =>
      change(`label.${id}`, `${issue.labelIds.includes(id) ? 'Remove' : 'Add'} label ${name}`, {
        labelIds: toggleLabel(issue, id),
      }),
    ),
    {
      id: 'issue.label',
      title: 'Add a new label',
      group,
      run: () =>
        openNewLabel(({ id }) => {
          const current = issues.row(issue.id).peek() ?? issue
          void changeIssue(current, { labelIds: [...current.labelIds, id] })
        }),
    },
    ...projects.all.value
      .filter(({ id }) => id !== issue.projectId)
      .map(({ id, name }) => change(`project.${id}`, `Move to the project ${name}`, { projectId: id })),
    ...(issue.projectId ? [change('project', 'Remove from its project', { projectId: null })] : []),
    ...goals.all.value
      .filter(({ id }) => id !== issue.goalId)
      .map(({ id, title }) => change(`goal.${id}`, `Set the goal to ${title}`, { goalId: id })),
    ...(issue.goalId ? [change('goal', 'Remove the goal', { goalId: null })] : []),
    ...all,
  ]
}
