import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import type { Input } from '../../access/route.ts'
import { route } from '../../access/route.ts'
import { manager } from '../../organization/agent/who.ts'
import type { Context } from '../../platform/context.ts'
import { getProject } from './change.ts'
import { listWorkspaces } from './queries.ts'
import { BY_URL_KEY } from './routes.ts'
import { NewWorkspace, toWorkspace, Workspace, WorkspaceChange } from './workspace.ts'
import { addWorkspace, deleteWorkspace, getWorkspace, updateWorkspace } from './workspaces.ts'

const ALL = '/api/projects/:projectId/workspaces'
const ONE = '/api/projects/:projectId/workspaces/:workspaceId'

/** A workspace decides where programs run on the user's machine, so an agent without subordinates may not set one. */
export const workspaceRoutes = [
  route({
    id: 'workspaces.list',
    method: 'GET',
    path: ALL,
    summary: "List a project's workspaces, oldest first",
    who: [board, agent],
    query: BY_URL_KEY,
    responses: { 200: v.array(Workspace) },
    run: (ctx, request) => listWorkspaces(ctx.db, { projectId: projectOf(ctx, request).id }).map(toWorkspace),
  }),
  route({
    id: 'workspaces.create',
    method: 'POST',
    path: ALL,
    summary: 'Add a workspace to a project',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    body: NewWorkspace,
    responses: { 201: Workspace },
    run: (ctx, request) =>
      ctx.write(() => toWorkspace(addWorkspace(ctx, request.caller, projectOf(ctx, request), request.body))),
  }),
  route({
    id: 'workspaces.get',
    method: 'GET',
    path: ONE,
    summary: 'Get a workspace',
    who: [board, agent],
    query: BY_URL_KEY,
    responses: { 200: Workspace },
    run: (ctx, request) => toWorkspace(workspaceOf(ctx, request)),
  }),
  route({
    id: 'workspaces.update',
    method: 'PATCH',
    path: ONE,
    summary: 'Change a workspace, or make it the primary one',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    body: WorkspaceChange,
    responses: { 200: Workspace },
    run: (ctx, request) =>
      ctx.write(() => toWorkspace(updateWorkspace(ctx, request.caller, workspaceOf(ctx, request), request.body))),
  }),
  route({
    id: 'workspaces.delete',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a workspace',
    who: [board, ceo, manager],
    query: BY_URL_KEY,
    responses: { 200: Workspace },
    run: (ctx, request) =>
      ctx.write(() => toWorkspace(deleteWorkspace(ctx, request.caller, workspaceOf(ctx, request)))),
  }),
]

type InProject<More = unknown> = Pick<
  Input<{ projectId: string } & More, { companyId?: string | undefined }>,
  'caller' | 'params' | 'query'
>

const projectOf = (ctx: Context, { caller, params, query }: InProject) =>
  getProject(ctx, caller, params.projectId, query.companyId)

const workspaceOf = (ctx: Context, request: InProject<{ workspaceId: string }>) =>
  getWorkspace(ctx, projectOf(ctx, request), request.params.workspaceId)
