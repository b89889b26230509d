import { confirm } from '../../kit/dialog.tsx'
import { plural } from '../../kit/format.ts'
import { act } from '../../state/act.ts'
import { request, type Sent } from '../../state/api.ts'
import { projects } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Project } from '../../state/types.ts'

export const PROJECT_STATUSES = ['backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled'] as const

type Change = NonNullable<Sent<'PATCH /api/projects/:projectId'>['body']>

/** Changes a project in the page immediately, and reverts the change if the server rejects it. */
export async function changeProject(project: Project, change: Change): Promise<boolean> {
  const saved = await act(
    () => request('PATCH /api/projects/:projectId', { params: { projectId: project.id }, body: change }),
    () => projects.patch(project.id, change as Partial<Project>),
  )
  if (saved) projects.put(saved)
  return saved !== undefined
}

export const reloadProject = async (projectId: string) =>
  projects.put(await request('GET /api/projects/:projectId', { params: { projectId } }))

/** @returns whether the project was deleted */
export async function deleteProject(project: Project): Promise<boolean> {
  const isSure = await confirm({
    title: `Delete ${project.name}?`,
    text: `This deletes the project and its ${plural(project.workspaces.length, 'workspace')}. It does not delete the folders and the issues.`,
    action: 'Delete the project',
  })
  if (!isSure) return false
  const removed = await act(() => request('DELETE /api/projects/:projectId', { params: { projectId: project.id } }))
  if (!removed) return false
  projects.remove(project.id)
  toast(`${project.name} was deleted.`)
  return true
}
