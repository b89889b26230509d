import type { ResponseOf } from '../../client/types.ts'
import { choice, clearable, longText, reference, text } from '../command/flag.ts'
import { fields, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { create, edit, list, noun, remove, view } from '../command/verb.ts'

type Goal = ResponseOf<'GET /api/goals/:goalId'>

const CHANGE = {
  description: clearable(longText('-d, --description <text>')),
  level: choice('--level <level>', ['company', 'team', 'agent', 'task']),
  status: choice('-s, --status <status>', ['planned', 'active', 'achieved', 'cancelled']),
  parentId: clearable(reference('goal', '--parent <goal>')),
  ownerAgentId: clearable(reference('agent', '--owner <agent>')),
}

const getGoal = async (scope: Scope, [ref]: readonly [string]) =>
  scope.client.request('GET /api/goals/:goalId', { params: { goalId: await scope.find('goal', ref) } })

const describe = (goal: Goal) =>
  fields([
    ['Goal', goal.title],
    ['Level', goal.level],
    ['Status', goal.status],
    ['Description', goal.description],
    ['Id', goal.id],
  ])

export const goalCommand = () =>
  noun('goal', 'Goals: the purposes of the work.', [
    list({
      summary: 'List the goals as a tree.',
      examples: ['goal list', 'goal list --json=id,title'],
      empty: 'There are no goals. Create one with `service goal create`.',
      page: 'goals',
      load: async (scope) =>
        scope.client.request('GET /api/companies/:companyId/goals', { params: await scope.inCompany() }),
      async columns(scope) {
        const nameOf = await scope.agentNames()
        const depths = new Map<string, number>()
        return {
          Goal: ({ id, parentId, title }) => {
            const depth = parentId === null ? 0 : (depths.get(parentId) ?? 0) + 1
            depths.set(id, depth)
            return depth === 0 ? title : `${'· '.repeat(depth)}${title}`
          },
          Level: ({ level }) => level,
          Status: ({ status }) => status,
          Owner: ({ ownerAgentId }) => nameOf(ownerAgentId),
          Id: ({ id }) => shortId(id),
        }
      },
    }),
    view({
      summary: 'Show a goal.',
      args: ['<goal>'],
      examples: ['goal view "Launch the tide table"'],
      page: ({ id }) => `goals/${id}`,
      load: getGoal,
      text: describe,
    }),
    create({
      summary: 'Create a goal.',
      args: ['<title>'],
      flags: CHANGE,
      examples: ['goal create "Every skipper knows the tide" --level company'],
      send: async (scope, [title], body) =>
        scope.client.request('POST /api/companies/:companyId/goals', {
          params: await scope.inCompany(),
          body: { ...body, title },
        }),
      text: describe,
    }),
    edit({
      summary: 'Change a goal.',
      args: ['<goal>'],
      flags: { title: text('--title <title>'), ...CHANGE },
      examples: ['goal edit "Launch the tide table" --status achieved'],
      load: getGoal,
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/goals/:goalId', { params: { goalId: await scope.find('goal', ref) }, body }),
      text: describe,
    }),
    remove({
      summary: 'Delete a goal that nothing refers to.',
      args: ['<goal>'],
      examples: ['goal delete "Sell maps" --yes'],
      ask: ([ref]) => `Delete the goal ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/goals/:goalId', { params: { goalId: await scope.find('goal', ref) } }),
      text: ({ title }) => `The goal ${title} is deleted.`,
    }),
  ])
