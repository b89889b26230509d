import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { may } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Project } from '../../state/types.ts'
import { reloadProject } from './change.ts'

type Workspace = Project['workspaces'][number]

/** The folders and repositories in which agents work on a project. */
export function Workspaces({ project }: { project: Project }) {
  const opened = useSignal<Workspace | 'new' | undefined>(undefined)
  const add = () => {
    opened.value = 'new'
  }
  useCommands(
    may('member')
      ? [
          { id: 'workspace.new', title: 'Add a workspace', group: 'Project', run: add },
          ...project.workspaces.map((workspace) => ({
            id: `workspace.${workspace.id}`,
            title: `Change the workspace ${workspace.name}`,
            group: 'Project',
            run: () => {
              opened.value = workspace
            },
          })),
        ]
      : [],
  )
  return (
    <section class="rows" aria-label="Workspaces">
      <header class="section-head">
        <h3>Workspaces</h3>
        <span class="section-end">
          {may('member') && <Button kind="quiet" icon={plus} label="Add a workspace" onClick={add} />}
        </span>
      </header>
      {project.workspaces.length === 0 && <p class="note">No workspace: agents work in their own folders.</p>}
      <ul class="lines">
        {project.workspaces.map((workspace) => (
          <li key={workspace.id}>
            <b>{workspace.name}</b>
            {workspace.isPrimary && <span class="tag">primary</span>}
            {workspace.isolation === 'worktree' && (
              <span class="tag" title="Each issue has a separate git worktree and branch">
                worktree for each issue
              </span>
            )}
            <span class="mono clip">{placeOf(workspace)}</span>
            {may('member') && (
              <span class="line-end">
                {!workspace.isPrimary && (
                  <Button kind="quiet" onClick={() => void makePrimary(project, workspace)}>
                    Make primary
                  </Button>
                )}
                <Button
                  kind="quiet"
                  onClick={() => {
                    opened.value = workspace
                  }}
                >
                  Change
                </Button>
                <Button kind="quiet" onClick={() => void remove(project, workspace)}>
                  Remove
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {opened.value && (
        <WorkspaceForm
          project={project}
          workspace={opened.value === 'new' ? undefined : opened.value}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </section>
  )
}

const placeOf = ({ cwd, repoUrl, repoRef }: Workspace) =>
  [cwd, repoUrl && `${repoUrl}${repoRef ? ` @ ${repoRef}` : ''}`].filter(Boolean).join(' · ')

async function makePrimary(project: Project, { id: workspaceId }: Workspace): Promise<void> {
  const params = { projectId: project.id, workspaceId }
  const body = { isPrimary: true }
  if (await act(() => request('PATCH /api/projects/:projectId/workspaces/:workspaceId', { params, body })))
    await reloadProject(project.id)
}

async function remove(project: Project, workspace: Workspace): Promise<void> {
  const params = { projectId: project.id, workspaceId: workspace.id }
  if (!(await act(() => request('DELETE /api/projects/:projectId/workspaces/:workspaceId', { params })))) return
  await reloadProject(project.id)
  const { name, cwd, repoUrl, repoRef, isPrimary, isolation, setupCommand, cleanupCommand } = workspace
  toast(`${name} was removed. The folder was not deleted.`, {
    undo: () =>
      void act(() =>
        request('POST /api/projects/:projectId/workspaces', {
          params: { projectId: project.id },
          body: { name, cwd, repoUrl, repoRef, isPrimary, isolation, setupCommand, cleanupCommand },
        }),
      ).then(() => reloadProject(project.id)),
  })
}

const ISOLATION = [
  { value: 'none', label: 'In this folder, shared by all issues' },
  { value: 'worktree', label: 'In a separate git worktree and branch for each issue' },
] as const

/** Creates a workspace, or changes one. */
function WorkspaceForm({
  project,
  workspace,
  onClose,
}: {
  project: Project
  workspace: Workspace | undefined
  onClose: () => void
}) {
  const fields = useSignal({
    name: workspace?.name ?? '',
    cwd: workspace?.cwd ?? '',
    repoUrl: workspace?.repoUrl ?? '',
    repoRef: workspace?.repoRef ?? '',
    isolation: workspace?.isolation ?? ('none' as const),
    setupCommand: workspace?.setupCommand ?? '',
    cleanupCommand: workspace?.cleanupCommand ?? '',
  })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { name, cwd, repoUrl, repoRef, isolation, setupCommand, cleanupCommand } = fields.value
  const submit = async () => {
    const projectId = project.id
    const { name: typed, isolation: chosen, ...rest } = fields.peek()
    const texts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, value.trim() || null]))
    const body = { ...texts, ...(typed.trim() && { name: typed.trim() }), isolation: chosen }
    if (workspace) {
      const params = { projectId, workspaceId: workspace.id }
      await request('PATCH /api/projects/:projectId/workspaces/:workspaceId', { params, body })
    } else {
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
      await request('POST /api/projects/:projectId/workspaces', { params: { projectId }, body: given })
    }
    await reloadProject(projectId)
  }
  return (
    <FormDialog
      title={workspace ? `Workspace ${workspace.name}` : `New workspace of ${project.name}`}
      action={workspace ? 'Save' : 'Add workspace'}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField label="Name" autoFocus value={name} onInput={(value) => set({ name: value })} />
      <TextField
        label="Folder"
        isMono
        placeholder="/home/me/project"
        value={cwd}
        onInput={(value) => set({ cwd: value })}
      />
      <div class="form-row">
        <TextField label="Repository" type="url" value={repoUrl} onInput={(value) => set({ repoUrl: value })} />
        <TextField label="Branch or tag" value={repoRef} onInput={(value) => set({ repoRef: value })} />
      </div>
      <Select
        label="Where an issue is worked on"
        hint={
          isolation === 'worktree'
            ? 'The folder must be in a git repository. The branch is named after the issue; the worktree stays until the issue is closed.'
            : 'Runs of different issues see each other’s changes.'
        }
        value={isolation}
        options={ISOLATION}
        onChange={(value) => set({ isolation: value })}
      />
      {isolation === 'worktree' && (
        <>
          <TextField
            label="Before the first run in a worktree"
            isMono
            placeholder="npm ci"
            value={setupCommand}
            onInput={(value) => set({ setupCommand: value })}
          />
          <TextField
            label="Before a worktree is removed"
            isMono
            value={cleanupCommand}
            onInput={(value) => set({ cleanupCommand: value })}
          />
        </>
      )}
    </FormDialog>
  )
}
