import { AppError } from '../../platform/errors.ts'
import type { Client } from '../client/client.ts'
import { findNamed } from '../client/find-named.ts'

interface Item {
  id: string
  name?: string
  title?: string | null
  urlKey?: string
  issuePrefix?: string
}

/**
 * Finds the record with a name or id.
 *
 * @throws AppError not_found or conflict; the message lists the candidates
 */
export function pick<Found extends Item>(items: readonly Found[], ref: string, noun: string): Found {
  const named = items.map((item) => ({
    id: item.id,
    names: [item.name, item.title, item.urlKey, item.issuePrefix],
    item,
  }))
  const found = findNamed(named, ref).map(({ item }) => item)
  if (found.length === 1) return found[0]!
  const displayed = (found.length > 0 ? found : items)
    .slice(0, 30)
    .map((item) => (found.length > 0 ? item.id : (item.name ?? item.title ?? item.id)))
    .join(', ')
  throw found.length > 0
    ? new AppError('conflict', `Several ${noun}s are called ${ref}. Use an id: ${displayed}.`)
    : new AppError('not_found', `There is no ${noun} ${ref}. Available: ${displayed || 'none'}.`)
}

/** Finds the company of a tool call: the named one, that of the agent, or the only one. */
export async function findCompany(client: Client, ref: string | undefined): Promise<string> {
  if (ref === undefined) {
    const { companyId } = await client.request('GET /api/whoami')
    if (companyId !== null) return companyId
  }
  const companies = await client.request('GET /api/companies', { query: { limit: 1000 } })
  if (ref !== undefined) return pick(companies, ref, 'company').id
  if (companies.length === 1) return companies[0]!.id
  const names = companies.map(({ name, issuePrefix }) => `${name} (${issuePrefix})`).join(', ')
  throw new AppError('validation_failed', `Name the company in \`company\`: ${names || 'there is none yet'}.`)
}

const everything = { query: { limit: 1000 } } as const

export const listAgents = (client: Client, companyId: string) =>
  client.request('GET /api/companies/:companyId/agents', { params: { companyId }, ...everything })

export const listProjects = (client: Client, companyId: string) =>
  client.request('GET /api/companies/:companyId/projects', { params: { companyId }, ...everything })

export const listGoals = (client: Client, companyId: string) =>
  client.request('GET /api/companies/:companyId/goals', { params: { companyId } })

/** Resolves the names in the input of an issue to the ids that the API expects. */
export async function idsOf(
  client: Client,
  companyId: string,
  names: {
    assignee?: string | undefined
    project?: string | undefined
    goal?: string | undefined
    manager?: string | undefined
  },
) {
  const { assignee, project, goal, manager } = names
  const agents = assignee === undefined && manager === undefined ? [] : await listAgents(client, companyId)
  const agentId = async (ref: string) => (ref === 'me' ? await ownId(client) : pick(agents, ref, 'agent').id)
  return {
    ...(assignee !== undefined && { assigneeAgentId: assignee === 'none' ? null : await agentId(assignee) }),
    ...(manager !== undefined && { reportsTo: await agentId(manager) }),
    ...(project !== undefined && {
      projectId: project === 'none' ? null : pick(await listProjects(client, companyId), project, 'project').id,
    }),
    ...(goal !== undefined && {
      goalId: goal === 'none' ? null : pick(await listGoals(client, companyId), goal, 'goal').id,
    }),
  }
}

async function ownId(client: Client): Promise<string> {
  const { agentId } = await client.request('GET /api/whoami')
  if (agentId === null) throw new AppError('validation_failed', '`me` is for agents: you are a person. Name an agent.')
  return agentId
}

/** Finds an agent by its name or id. `me` is the calling agent. */
export async function findAgent(client: Client, companyId: string, ref: string) {
  return pick(await listAgents(client, companyId), ref === 'me' ? await ownId(client) : ref, 'agent')
}

/** Returns a function from the id of an agent to its name. */
export async function namesOf(client: Client, companyId: string): Promise<(id: string | null) => string | null> {
  const names = new Map((await listAgents(client, companyId)).map(({ id, name }) => [id, name]))
  return (id) => (id === null ? null : (names.get(id) ?? id))
}
