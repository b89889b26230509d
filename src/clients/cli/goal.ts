import type { Command } from 'commander'
import { agentNames, findId, inCompany } from './find.ts'
import { fields, shortId, table } from './output.ts'
import { clientOf, given, noun, type Options, show, textOf, verb } from './verb.ts'

interface Change extends Options {
  title?: string
  description?: string
  level?: string
  status?: string
  parent?: string
  owner?: string
}

// biome-ignore lint/suspicious/noExplicitAny: a goal as the API shows it.
type Goal = any

const withChange = (command: Command): Command =>
  command
    .option('-d, --description <text>', 'text, @file or -')
    .option('--level <level>', 'company, team, agent or task')
    .option('-s, --status <status>', 'planned, active, achieved or cancelled')
    .option('--parent <goal>')
    .option('--owner <agent>')

export const goalCommand = () =>
  noun('goal', 'Goals: what the work is for.', [
    verb('list', 'List the goals as a tree.', ['goal list']).action(listAll),
    verb('show', 'Show a goal.', ['goal show "Launch the tide table"']).argument('<goal>').action(showOne),
    withChange(verb('create', 'Create a goal.', ['goal create "Launch the tide table" --level company']))
      .argument('<title>')
      .action(create),
    withChange(verb('update', 'Change a goal.', ['goal update 1f3b5d7e --status achieved']))
      .argument('<goal>', 'its title or id')
      .option('--title <title>')
      .action(update),
  ])

async function listAll(options: Options): Promise<void> {
  const { client, path } = await inCompany(options)
  const goals: Goal[] = await client.request('GET', `${path}/goals`)
  const nameOf = options.json ? () => '' : await agentNames(client, path)
  show(options, goals, () => {
    const depths = new Map<string, number>()
    const rows = goals.map((goal) => {
      const depth = goal.parentId === null ? 0 : (depths.get(goal.parentId) ?? 0) + 1
      depths.set(goal.id, depth)
      const title = depth === 0 ? goal.title : `${'· '.repeat(depth)}${goal.title}`
      return [title, goal.level, goal.status, nameOf(goal.ownerAgentId), shortId(goal.id)]
    })
    return table([['Goal', 'Level', 'Status', 'Owner', 'Id'], ...rows])
  })
}

async function showOne(ref: string, options: Options): Promise<void> {
  const goal: Goal = await clientOf(options).request('GET', `/api/goals/${await findId(options, 'goal', ref)}`)
  show(options, goal, () => describe(goal))
}

const describe = (goal: Goal) =>
  fields([
    ['Goal', goal.title],
    ['Level', goal.level],
    ['Status', goal.status],
    ['Description', goal.description],
    ['Id', goal.id],
  ])

async function changeOf(options: Change) {
  const { title, description, level, status, parent, owner } = options
  return given({
    title,
    description: description === undefined ? undefined : textOf(description),
    level,
    status,
    parentId: parent === undefined ? undefined : await findId(options, 'goal', parent),
    ownerAgentId: owner === undefined ? undefined : await findId(options, 'agent', owner),
  })
}

async function create(title: string, options: Change): Promise<void> {
  const { client, path } = await inCompany(options)
  const goal: Goal = await client.request('POST', `${path}/goals`, await changeOf({ ...options, title }))
  show(options, goal, () => describe(goal))
}

async function update(ref: string, options: Change): Promise<void> {
  const id = await findId(options, 'goal', ref)
  const goal: Goal = await clientOf(options).request('PATCH', `/api/goals/${id}`, await changeOf(options))
  show(options, goal, () => describe(goal))
}
