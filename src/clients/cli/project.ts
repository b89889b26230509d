import path from 'node:path'
import type { Command } from 'commander'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { readText } from './input.ts'
import { fields, shortId, table, words } from './output.ts'
import { clientOf, list, mapDefined, noun, type Options, show, verb } from './verb.ts'

interface Change extends Options {
  name?: string
  description?: string
  status?: BodyOf<'PATCH /api/projects/:projectId'>['status']
  lead?: string
  goal?: string
  target?: string
  cwd?: string
}

type Project = ResponseOf<'GET /api/projects/:projectId'>

const withChange = (command: Command): Command =>
  command
    .option('-d, --description <text>', 'text, @file or -')
    .option('-s, --status <status>', 'backlog, planned, active, in_progress, completed or cancelled')
    .option('--lead <agent>')
    .option('--goal <goal>')
    .option('--target <date>', 'such as 2026-11-30')

export const projectCommand = () =>
  noun('project', 'Projects: groups of issues, with the folder or repository of their code.', [
    verb('list', 'List the projects.', ['project list', 'project list --status active'])
      .option('-s, --status <list>', 'only these, separated by commas')
      .action(listAll),
    verb('show', 'Show a project.', ['project show "Tide table"']).argument('<project>').action(showOne),
    withChange(verb('create', 'Create a project.', ['project create "Tide table" --cwd ~/tide --lead Ada']))
      .argument('<name>')
      .option('--cwd <folder>', 'where its agents work')
      .action(create),
    withChange(verb('update', 'Change a project.', ['project update "Tide table" --status completed']))
      .argument('<project>', 'its name, key or id')
      .option('--name <name>')
      .action(update),
  ])

async function listAll(options: Options & { status?: string }): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const projects = await list(client, 'GET /api/companies/:companyId/projects', {
    params: { companyId },
    query: { limit: 1000, status: options.status },
  })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
  show(options, projects, () => {
    const rows = projects.map((project) => [
      project.name,
      words(project.status),
      nameOf(project.leadAgentId),
      project.targetDate ?? '',
      project.primaryWorkspace?.cwd ?? project.primaryWorkspace?.repoUrl ?? '',
      shortId(project.id),
    ])
    return table([['Project', 'Status', 'Lead', 'Target', 'Workspace', 'Id'], ...rows])
  })
}

async function showOne(ref: string, options: Options): Promise<void> {
  const projectId = await findId(options, 'project', ref)
  const project = await clientOf(options).request('GET /api/projects/:projectId', { params: { projectId } })
  show(options, project, () => describe(project))
}

const describe = (project: Project) =>
  fields([
    ['Project', project.name],
    ['Status', words(project.status)],
    ['Goals', project.goals.map((goal) => goal.title).join(', ')],
    ['Target', project.targetDate],
    ['Workspace', project.primaryWorkspace?.cwd ?? project.primaryWorkspace?.repoUrl],
    ['Description', project.description],
    ['Id', project.id],
  ])

async function changeOf(options: Change) {
  const { name, description, status, lead, goal, target } = options
  return {
    name,
    description: await mapDefined(description, readText),
    status,
    targetDate: target,
    leadAgentId: await mapDefined(lead, (ref) => findId(options, 'agent', ref)),
    goalId: await mapDefined(goal, (ref) => findId(options, 'goal', ref)),
  }
}

async function create(name: string, options: Change): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const workspace = mapDefined(options.cwd, (cwd) => ({ name, cwd: path.resolve(cwd) }))
  const body = { ...(await changeOf(options)), name, workspace }
  const project = await client.request('POST /api/companies/:companyId/projects', { params: { companyId }, body })
  show(options, project, () => describe(project))
}

async function update(ref: string, options: Change): Promise<void> {
  const projectId = await findId(options, 'project', ref)
  const body = await changeOf(options)
  const project = await clientOf(options).request('PATCH /api/projects/:projectId', { params: { projectId }, body })
  show(options, project, () => describe(project))
}
