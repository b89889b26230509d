import { statSync } from 'node:fs'
import path from 'node:path'
import { isLoopback } from '../../../platform/config.ts'
import type { ResponseOf } from '../../client/types.ts'
import { choice, choices, clearable, LIMIT, longText, reference, text, toggle } from '../command/flag.ts'
import { fields, shortId, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { create, edit, list, noun, remove, view } from '../command/verb.ts'

type Project = ResponseOf<'GET /api/projects/:projectId'>
type Workspace = ResponseOf<'GET /api/projects/:projectId/workspaces/:workspaceId'>

const STATUSES = ['backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled'] as const

const CHANGE = {
  description: clearable(longText('-d, --description <text>')),
  status: choice('-s, --status <status>', STATUSES),
  leadAgentId: clearable(reference('agent', '--lead <agent>')),
  goalId: clearable(reference('goal', '--goal <goal>')),
  targetDate: clearable(text('--target <date>', 'such as 2026-11-30')),
}

const inProject = async (scope: Scope, ref: string) => ({ projectId: await scope.find('project', ref) })

const getProject = async (scope: Scope, [ref]: readonly [string]) =>
  scope.client.request('GET /api/projects/:projectId', { params: await inProject(scope, ref) })

const placeOf = (workspace: Pick<Workspace, 'cwd' | 'repoUrl'> | null) => workspace?.cwd ?? workspace?.repoUrl

const describe = (project: Project) =>
  fields([
    ['Project', project.name],
    ['Status', words(project.status)],
    ['Goals', project.goals.map((goal) => goal.title).join(', ')],
    ['Target', project.targetDate],
    ['Workspace', placeOf(project.primaryWorkspace)],
    ['Description', project.description],
    ['Id', project.id],
  ])

/** Warns about a folder that does not exist, if the server is on this machine. */
function folderWarnings({ primaryWorkspace }: Project, { client }: Scope): string[] {
  const cwd = primaryWorkspace?.cwd
  if (!cwd || !isLoopback(new URL(client.url).hostname)) return []
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return []
  return [`Warning: There is no folder ${cwd}. Runs on the issues of the project cannot start before you create it.`]
}

export const projectCommand = () =>
  noun('project', 'Projects: groups of issues, with the folder or repository of their code.', [
    list({
      summary: 'List the projects.',
      flags: { ...LIMIT, status: choices('-s, --status <list>', STATUSES) },
      examples: ['project list', 'project list --status active,planned'],
      empty: 'There are no projects. Create one with `service project create`.',
      page: 'projects',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/projects', { params: await scope.inCompany(), query }),
      async columns(scope) {
        const nameOf = await scope.agentNames()
        return {
          Project: ({ name }) => name,
          Status: ({ status }) => words(status),
          Lead: ({ leadAgentId }) => nameOf(leadAgentId),
          Target: ({ targetDate }) => targetDate,
          Workspace: ({ primaryWorkspace }) => placeOf(primaryWorkspace),
          Id: ({ id }) => shortId(id),
        }
      },
    }),
    view({
      summary: 'Show a project.',
      args: ['<project>'],
      examples: ['project view "Tide table"'],
      page: ({ id }) => `projects/${id}`,
      load: getProject,
      text: describe,
    }),
    create({
      summary: 'Create a project.',
      args: ['<name>'],
      flags: { ...CHANGE, cwd: text('--cwd <folder>', 'the folder where its agents work') },
      examples: ['project create "Harbour map" --cwd . --lead Ada'],
      send: async (scope, [name], { cwd, ...body }) =>
        scope.client.request('POST /api/companies/:companyId/projects', {
          params: await scope.inCompany(),
          body: { ...body, name, ...(cwd !== undefined && { workspace: { name, cwd: path.resolve(cwd) } }) },
        }),
      text: (project, scope) => [describe(project), ...folderWarnings(project, scope)].join('\n'),
    }),
    edit({
      summary: 'Change a project.',
      args: ['<project>'],
      flags: { name: text('--name <name>'), ...CHANGE },
      examples: ['project edit "Tide table" --status completed', 'project edit "Tide table" --lead none'],
      load: getProject,
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/projects/:projectId', { params: await inProject(scope, ref), body }),
      text: describe,
    }),
    remove({
      summary: 'Delete a project that nothing refers to.',
      args: ['<project>'],
      examples: ['project delete Attic --yes'],
      ask: ([ref]) => `Delete the project ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/projects/:projectId', { params: await inProject(scope, ref) }),
      text: ({ name }) => `The project ${name} is deleted.`,
    }),
    workspaceCommand(),
  ])

const PLACE = {
  cwd: clearable(text('--cwd <folder>', 'the folder')),
  repoUrl: clearable(text('--repo <url>', 'the git repository')),
  repoRef: clearable(text('--ref <ref>', 'its branch, tag or commit')),
  isPrimary: toggle('--primary', 'make it the primary workspace, in which runs work'),
}

/** A folder as the server needs it: absolute. */
const absolute = <Place extends { cwd?: string | null }>(place: Place): Place =>
  place.cwd ? { ...place, cwd: path.resolve(place.cwd) } : place

const describeWorkspace = (workspace: Workspace) =>
  fields([
    ['Workspace', workspace.name],
    ['Folder', workspace.cwd],
    ['Repository', workspace.repoUrl],
    ['Ref', workspace.repoRef],
    ['Primary', workspace.isPrimary ? 'yes' : 'no'],
    ['Id', workspace.id],
  ])

/** Finds a workspace of a project by its name or id. */
async function findWorkspace(scope: Scope, project: string, ref: string) {
  const params = await inProject(scope, project)
  const all = await scope.client.request('GET /api/projects/:projectId/workspaces', { params })
  const found = all.find(({ id, name }) => id.endsWith(ref) || name?.toLowerCase() === ref.toLowerCase())
  return { ...params, workspaceId: found?.id ?? ref }
}

const workspaceCommand = () =>
  noun('workspace', 'Workspaces: the folders and repositories of a project.', [
    list({
      summary: 'List the workspaces of a project.',
      args: ['<project>'],
      examples: ['project workspace list "Tide table"'],
      empty: 'The project has no workspace. Add one with `service project workspace create`.',
      load: async (scope, _, [project]) =>
        scope.client.request('GET /api/projects/:projectId/workspaces', { params: await inProject(scope, project) }),
      columns: {
        Workspace: ({ name }) => name,
        Folder: ({ cwd }) => cwd,
        Repository: ({ repoUrl }) => repoUrl,
        Ref: ({ repoRef }) => repoRef,
        Primary: ({ isPrimary }) => (isPrimary ? 'yes' : ''),
        Id: ({ id }) => shortId(id),
      },
    }),
    create({
      summary: 'Add a workspace to a project.',
      args: ['<project>', '<name>'],
      flags: PLACE,
      examples: ['project workspace create "Tide table" Site --cwd . --primary'],
      send: async (scope, [project, name], body) =>
        scope.client.request('POST /api/projects/:projectId/workspaces', {
          params: await inProject(scope, project),
          body: { ...absolute(body), name },
        }),
      text: describeWorkspace,
    }),
    edit({
      summary: 'Change a workspace.',
      args: ['<project>', '<workspace>'],
      flags: { name: text('--name <name>'), ...PLACE },
      examples: ['project workspace edit "Tide table" Main --primary'],
      send: async (scope, [project, workspace], body) =>
        scope.client.request('PATCH /api/projects/:projectId/workspaces/:workspaceId', {
          params: await findWorkspace(scope, project, workspace),
          body: absolute(body),
        }),
      text: describeWorkspace,
    }),
    remove({
      summary: 'Remove a workspace from a project. Its files stay.',
      args: ['<project>', '<workspace>'],
      examples: ['project workspace delete "Tide table" Main --yes'],
      ask: ([, workspace]) => `Remove the workspace ${workspace}?`,
      send: async (scope, [project, workspace]) =>
        scope.client.request('DELETE /api/projects/:projectId/workspaces/:workspaceId', {
          params: await findWorkspace(scope, project, workspace),
        }),
      text: ({ name }) => `The workspace ${name} is removed.`,
    }),
  ])
