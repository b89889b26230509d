import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../kit/format.ts'
import { Picker } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { agents, companyIdNow, isLoaded, may, pathTo, projects } from '../../state/company.ts'
import type { Project } from '../../state/types.ts'

const STATUSES = ['backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled'] as const
const NOBODY = ''

/** The projects of the company, each with its workspaces. */
export function ProjectsPage() {
  const isOpen = useSignal(false)
  const workspaceOf = useSignal<Project | undefined>(undefined)
  const open = () => {
    isOpen.value = true
  }
  useCommands(
    may('member') ? [{ id: 'project.new', title: 'New project', keys: 'n', group: 'Projects', run: open }] : [],
  )
  const all = projects.all.value
  return (
    <Page
      title="Projects"
      actions={
        may('member') &&
        all.length > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={open}>
            New project
          </Button>
        )
      }
    >
      {!isLoaded.value ? (
        <Skeleton rows={6} height={64} />
      ) : all.length === 0 ? (
        <Empty
          title="No projects yet."
          action={
            may('member') && (
              <Button kind="primary" hint="n" onClick={open}>
                Create the first project
              </Button>
            )
          }
        >
          A project groups issues and says in which folder or repository agents work on them.
        </Empty>
      ) : (
        <div class="projects">
          {all.map((project) => (
            <ProjectItem
              key={project.id}
              project={project}
              onAddWorkspace={() => {
                workspaceOf.value = project
              }}
            />
          ))}
        </div>
      )}
      {isOpen.value && (
        <NewProject
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
      {workspaceOf.value && (
        <NewWorkspace
          project={workspaceOf.value}
          onClose={() => {
            workspaceOf.value = undefined
          }}
        />
      )}
    </Page>
  )
}

function ProjectItem({ project, onAddWorkspace }: { project: Project; onAddWorkspace: () => void }) {
  const lead = agents.get(project.leadAgentId)
  return (
    <article class="project" aria-label={project.name}>
      <header>
        <h2>
          <a class="link" href={`${pathTo('issues')}?project=${project.id}`}>
            {project.name}
          </a>
        </h2>
        <Picker
          label={`Status: ${project.status}`}
          options={STATUSES.map((value) => ({ value, label: words(value) }))}
          value={project.status}
          isDisabled={!may('member')}
          onPick={(status) => void change(project, { status })}
        >
          <span class="tag">{words(project.status)}</span>
        </Picker>
        <span class="project-end">
          {project.targetDate && (
            <span class="note">
              due <time dateTime={project.targetDate}>{project.targetDate.slice(0, 10)}</time>
            </span>
          )}
          {lead && <AgentName agent={lead} />}
        </span>
      </header>
      {project.description && <p class="project-text">{project.description}</p>}
      {project.goals.length > 0 && <p class="note">For {project.goals.map(({ title }) => title).join(', ')}</p>}
      <ul class="lines">
        {project.workspaces.map((workspace) => (
          <li key={workspace.id}>
            <b>{workspace.name}</b>
            {workspace.isPrimary && <span class="tag">primary</span>}
            <span class="mono clip">
              {[
                workspace.cwd,
                workspace.repoUrl && `${workspace.repoUrl}${workspace.repoRef ? ` @ ${workspace.repoRef}` : ''}`,
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
            {may('member') && (
              <span class="line-end">
                {!workspace.isPrimary && (
                  <Button kind="quiet" onClick={() => void makePrimary(project, workspace.id)}>
                    Make primary
                  </Button>
                )}
                <Button kind="quiet" onClick={() => void removeWorkspace(project, workspace.id)}>
                  Remove
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      <footer>
        <Button kind="quiet" href={`${pathTo('issues')}?project=${project.id}`}>
          Open its issues
        </Button>
        {may('member') && (
          <Button kind="quiet" onClick={onAddWorkspace}>
            Add a workspace
          </Button>
        )}
        {project.workspaces.length === 0 && <span class="note">No workspace: agents work in their own folders.</span>}
      </footer>
    </article>
  )
}

async function change(project: Project, fields: { status: Project['status'] }): Promise<void> {
  const saved = await act(
    () => request('PATCH /api/projects/:projectId', { params: { projectId: project.id }, body: fields }),
    () => projects.patch(project.id, fields),
  )
  if (saved) projects.put(saved)
}

const reload = async (projectId: string) =>
  projects.put(await request('GET /api/projects/:projectId', { params: { projectId } }))

async function makePrimary(project: Project, workspaceId: string): Promise<void> {
  const params = { projectId: project.id, workspaceId }
  if (
    await act(() =>
      request('PATCH /api/projects/:projectId/workspaces/:workspaceId', { params, body: { isPrimary: true } }),
    )
  )
    await reload(project.id)
}

async function removeWorkspace(project: Project, workspaceId: string): Promise<void> {
  const params = { projectId: project.id, workspaceId }
  if (await act(() => request('DELETE /api/projects/:projectId/workspaces/:workspaceId', { params })))
    await reload(project.id)
}

function NewProject({ onClose }: { onClose: () => void }) {
  const name = useSignal('')
  const description = useSignal('')
  const lead = useSignal(NOBODY)
  const cwd = useSignal('')
  return (
    <FormDialog
      title="New project"
      action="Create project"
      onClose={onClose}
      onSubmit={async () => {
        projects.put(
          await request('POST /api/companies/:companyId/projects', {
            params: { companyId: companyIdNow() },
            body: {
              name: name.peek().trim(),
              description: description.peek().trim() || null,
              leadAgentId: lead.peek() || null,
              ...(cwd.peek().trim() && { workspace: { cwd: cwd.peek().trim() } }),
            },
          }),
        )
      }}
    >
      <TextField
        label="Name"
        autoFocus
        isRequired
        value={name.value}
        onInput={(value) => {
          name.value = value
        }}
      />
      <TextField
        label="Description"
        rows={3}
        value={description.value}
        onInput={(value) => {
          description.value = value
        }}
      />
      <Select
        label="Lead"
        value={lead.value}
        options={[
          { value: NOBODY, label: 'Nobody' },
          ...agents.all.value.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(value) => {
          lead.value = value
        }}
      />
      <TextField
        label="Folder"
        hint="Where agents work on its issues, on the server's machine. Without one they work in their own folders."
        placeholder="/home/me/project"
        value={cwd.value}
        onInput={(value) => {
          cwd.value = value
        }}
      />
    </FormDialog>
  )
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
        await reload(project.id)
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
