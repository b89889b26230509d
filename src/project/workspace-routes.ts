import * as v from 'valibot'
import { route } from '../http/route.ts'
import { agent, board, ceo, manager } from '../http/who.ts'
import { getProject } from './change.ts'
import { listWorkspaces } from './queries.ts'
import { BY_URL_KEY } from './routes.ts'
import { NewWorkspace, toWorkspace, Workspace, WorkspaceChange } from './workspace.ts'
import { addWorkspace, deleteWorkspace, getWorkspace, updateWorkspace } from './workspaces.ts'

const ALL = '/api/projects/:projectId/workspaces'
const ONE = '/api/projects/:projectId/workspaces/:workspaceId'

/** A workspace decides where agents' programs run on the user's machine: an agent that manages nobody sets none. */
export const workspaceRoutes = [
  route({
    id: 'workspaces.list',
    method: 'GET',
    path: ALL,
    summary: "List a project's workspaces, oldest first",
    who: [board, agent],
    query: BY_URL_KEY,
    answers: { 200: v.array(Workspace) },
    run: (ctx, { caller, params, query }) => {
      const project = getProject(ctx, caller, params.projectId, query.companyId)
      return listWorkspaces(ctx.db, { projectId: project.id }).map(toWorkspace)
    },
  }),
  route({
    id: 'workspaces.create',
    method: 'POST',
    path: ALL,
    summary: 'Add a workspace to a project',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    body: NewWorkspace,
    answers: { 201: Workspace },
    run: (ctx, { caller, params, query, body }) =>
      ctx.write(() => {
        const project = getProject(ctx, caller, params.projectId, query.companyId)
        return toWorkspace(addWorkspace(ctx, caller, project, body))
      }),
  }),
  route({
    id: 'workspaces.get',
    method: 'GET',
    path: ONE,
    summary: 'Get a workspace',
    who: [board, agent],
    query: BY_URL_KEY,
    answers: { 200: Workspace },
    run: (ctx, { caller, params, query }) =>
      toWorkspace(getWorkspace(ctx, getProject(ctx, caller, params.projectId, query.companyId), params.workspaceId)),
  }),
  route({
    id: 'workspaces.update',
    method: 'PATCH',
    path: ONE,
    summary: 'Change a workspace, or make it the primary one',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    body: WorkspaceChange,
    answers: { 200: Workspace },
    run: (ctx, { caller, params, query, body }) =>
      ctx.write(() => {
        const project = getProject(ctx, caller, params.projectId, query.companyId)
        const workspace = getWorkspace(ctx, project, params.workspaceId)
        return toWorkspace(updateWorkspace(ctx, caller, workspace, body))
      }),
  }),
  route({
    id: 'workspaces.delete',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a workspace',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    answers: { 200: Workspace },
    run: (ctx, { caller, params, query }) =>
      ctx.write(() => {
        const project = getProject(ctx, caller, params.projectId, query.companyId)
        return toWorkspace(deleteWorkspace(ctx, caller, getWorkspace(ctx, project, params.workspaceId)))
      }),
  }),
]
