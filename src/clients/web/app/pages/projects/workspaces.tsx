import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { may } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Project } from '../../state/types.ts'
import { reloadProject } from './change.ts'

type Workspace = Project['workspaces'][number]

/** The folders and repositories in which agents work on a project. */
export function Workspaces({ project }: { project: Project }) {
  const isAdding = useSignal(false)
  return (
    <section class="rows" aria-label="Workspaces">
      <header class="section-head">
        <h3>Workspaces</h3>
        <span class="section-end">
          {may('member') && (
            <Button
              kind="quiet"
              icon={plus}
              label="Add a workspace"
              onClick={() => {
                isAdding.value = true
              }}
            />
          )}
        </span>
      </header>
      {project.workspaces.length === 0 && <p class="note">No workspace: agents work in their own folders.</p>}
      <ul class="lines">
        {project.workspaces.map((workspace) => (
          <li key={workspace.id}>
            <b>{workspace.name}</b>
            {workspace.isPrimary && <span class="tag">primary</span>}
            <span class="mono clip">{placeOf(workspace)}</span>
            {may('member') && (
              <span class="line-end">
                {!workspace.isPrimary && (
                  <Button kind="quiet" onClick={() => void makePrimary(project, workspace)}>
                    Make primary
                  </Button>
                )}
                <Button kind="quiet" onClick={() => void remove(project, workspace)}>
                  Remove
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {isAdding.value && (
        <NewWorkspace
          project={project}
          onClose={() => {
            isAdding.value = false
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
  const { name, cwd, repoUrl, repoRef, isPrimary } = workspace
  toast(`${name} was removed. The folder stays.`, {
    undo: () =>
      void act(() =>
        request('POST /api/projects/:projectId/workspaces', {
          params: { projectId: project.id },
          body: { name, cwd, repoUrl, repoRef, isPrimary },
        }),
      ).then(() => reloadProject(project.id)),
  })
}

function NewWorkspace({ project, onClose }: { project: Project; onClose: () => void }) {
  const fields = useSignal({ name: '', cwd: '', repoUrl: '', repoRef: '' })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { name, cwd, repoUrl, repoRef } = fields.value
  return (
    <FormDialog
      title={`New workspace of ${project.name}`}
      action="Add workspace"
      onClose={onClose}
      onSubmit={async () => {
        const given = Object.entries(fields.peek()).filter(([, value]) => value.trim() !== '')
        await request('POST /api/projects/:projectId/workspaces', {
          params: { projectId: project.id },
          body: Object.fromEntries(given.map(([key, value]) => [key, value.trim()])),
        })
        await reloadProject(project.id)
      }}
    >
      <TextField label="Name" autoFocus value={name} onInput={(value) => set({ name: value })} />
      <TextField label="Folder" placeholder="/home/me/project" value={cwd} onInput={(value) => set({ cwd: value })} />
      <div class="form-row">
        <TextField label="Repository" type="url" value={repoUrl} onInput={(value) => set({ repoUrl: value })} />
        <TextField label="Branch or tag" value={repoRef} onInput={(value) => set({ repoRef: value })} />
      </div>
    </FormDialog>
  )
}
