import type { Command } from 'commander'
import { agentNames, findId, inCompany } from './find.ts'
import { fields, shortId, table, words } from './output.ts'
import { clientOf, given, list, noun, type Options, show, textOf, verb } from './verb.ts'

interface Change extends Options {
  name?: string
  description?: string
  status?: string
  lead?: string
  goal?: string
  target?: string
  cwd?: string
}

// biome-ignore lint/suspicious/noExplicitAny: a project as the API shows it.
type Project = any

const withChange = (command: Command): Command =>
  command
    .option('-d, --description <text>', 'text, @file or -')
    .option('-s, --status <status>', 'backlog, planned, active, in_progress, completed or cancelled')
    .option('--lead <agent>')
    .option('--goal <goal>')
    .option('--target <date>', 'such as 2026-11-30')

export const projectCommand = () =>
  noun('project', 'Projects: issues that belong together, and where their code is.', [
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
  const { client, path } = await inCompany(options)
  const projects: Project[] = await list(client, `${path}/projects`, { limit: 1000, status: options.status })
  const nameOf = options.json ? () => '' : await agentNames(client, path)
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
  const id = await findId(options, 'project', ref)
  const project: Project = await clientOf(options).request('GET', `/api/projects/${id}`)
  show(options, project, () => describe(project))
}

const describe = (project: Project) =>
  fields([
    ['Project', project.name],
    ['Status', words(project.status)],
    ['Goals', project.goals.map((goal: Project) => goal.title).join(', ')],
    ['Target', project.targetDate],
    ['Workspace', project.primaryWorkspace?.cwd ?? project.primaryWorkspace?.repoUrl],
    ['Description', project.description],
    ['Id', project.id],
  ])

async function changeOf(options: Change) {
  const { name, description, status, lead, goal, target } = options
  return given({
    name,
    description: description === undefined ? undefined : textOf(description),
    status,
    targetDate: target,
    leadAgentId: lead === undefined ? undefined : await findId(options, 'agent', lead),
    goalId: goal === undefined ? undefined : await findId(options, 'goal', goal),
  })
}

async function create(name: string, options: Change): Promise<void> {
  const { client, path } = await inCompany(options)
  const { resolve } = await import('node:path')
  const workspace = options.cwd === undefined ? undefined : { name, cwd: resolve(options.cwd) }
  const body = given({ ...(await changeOf({ ...options, name })), workspace })
  const project: Project = await client.request('POST', `${path}/projects`, body)
  show(options, project, () => describe(project))
}

async function update(ref: string, options: Change): Promise<void> {
  const id = await findId(options, 'project', ref)
  const project: Project = await clientOf(options).request('PATCH', `/api/projects/${id}`, await changeOf(options))
  show(options, project, () => describe(project))
}
