import type { Command } from 'commander'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { readText } from './input.ts'
import { fields, shortId, table } from './output.ts'
import { clientOf, mapDefined, noun, type Options, show, verb } from './verb.ts'

type Goal = ResponseOf<'GET /api/goals/:goalId'>
type GoalChange = BodyOf<'PATCH /api/goals/:goalId'>

interface Change extends Options {
  title?: string
  description?: string
  level?: GoalChange['level']
  status?: GoalChange['status']
  parent?: string
  owner?: string
}

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
  const { client, companyId } = await inCompany(options)
  const goals = await client.request('GET /api/companies/:companyId/goals', { params: { companyId } })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
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
  const goalId = await findId(options, 'goal', ref)
  const goal = await clientOf(options).request('GET /api/goals/:goalId', { params: { goalId } })
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
  return {
    title,
    description: await mapDefined(description, readText),
    level,
    status,
    parentId: await mapDefined(parent, (ref) => findId(options, 'goal', ref)),
    ownerAgentId: await mapDefined(owner, (ref) => findId(options, 'agent', ref)),
  }
}

async function create(title: string, options: Change): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const body = { ...(await changeOf(options)), title }
  const goal = await client.request('POST /api/companies/:companyId/goals', { params: { companyId }, body })
  show(options, goal, () => describe(goal))
}

async function update(ref: string, options: Change): Promise<void> {
  const goalId = await findId(options, 'goal', ref)
  const body = await changeOf(options)
  const goal = await clientOf(options).request('PATCH /api/goals/:goalId', { params: { goalId }, body })
  show(options, goal, () => describe(goal))
}
