import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, listOf, readPage } from '../../http/list.ts'
import { createProject, deleteProject, getProject, updateProject } from './change.ts'
import { NewProject, PROJECT_STATUSES, Project, ProjectChange } from './project.ts'
import { selectProjects, withParts } from './queries.ts'

/** The company of a `urlKey` in the path. */
export const BY_URL_KEY = v.object({
  companyId: v.optional(v.pipe(v.string(), v.description('The company, if the project is named by its urlKey.'))),
})

export const projectRoutes = [
  route({
    id: 'projects.list',
    method: 'GET',
    path: '/api/companies/:companyId/projects',
    summary: "List a company's projects, oldest first",
    who: [board, agent],
    query: v.object({ ...LIST_QUERY, status: v.optional(listOf(PROJECT_STATUSES)) }),
    responses: { 200: v.array(Project) },
    run: (ctx, { params, query }) => {
      const projects = selectProjects({ companyId: params.companyId, statuses: query.status })
      const page = readPage(ctx.db, projects, query, { by: 'id' })
      const whole = new Map(withParts(ctx.db, page.items).map((project) => [project.id, project]))
      return page.map((row) => whole.get(row.id)!)
    },
  }),
  route({
    id: 'projects.create',
    method: 'POST',
    path: '/api/companies/:companyId/projects',
    summary: 'Create a project',
    description: 'Agents without reports may not set a workspace, because it decides where programs run.',
    who: [board, agent],
    role: 'member',
    body: NewProject,
    responses: { 201: Project },
    run: (ctx, { caller, params, body }) => ctx.write(() => createProject(ctx, caller, params.companyId, body)),
  }),
  route({
    id: 'projects.get',
    method: 'GET',
    path: '/api/projects/:projectId',
    summary: 'Get a project',
    who: [board, agent],
    query: BY_URL_KEY,
    responses: { 200: Project },
    run: (ctx, { caller, params, query }) =>
      withParts(ctx.db, [getProject(ctx, caller, params.projectId, query.companyId)])[0],
  }),
  route({
    id: 'projects.update',
    method: 'PATCH',
    path: '/api/projects/:projectId',
    summary: 'Change a project',
    who: [board, agent],
    role: 'member',
    query: BY_URL_KEY,
    body: ProjectChange,
    responses: { 200: Project },
    run: (ctx, { caller, params, query, body }) =>
      ctx.write(() => updateProject(ctx, caller, getProject(ctx, caller, params.projectId, query.companyId), body)),
  }),
  route({
    id: 'projects.delete',
    method: 'DELETE',
    path: '/api/projects/:projectId',
    summary: 'Delete a project that nothing refers to',
    who: [board, ceo],
    role: 'member',
    query: BY_URL_KEY,
    responses: { 200: Project },
    run: (ctx, { caller, params, query }) =>
      ctx.write(() => deleteProject(ctx, caller, getProject(ctx, caller, params.projectId, query.companyId))),
  }),
]
