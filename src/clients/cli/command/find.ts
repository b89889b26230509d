import { findNamed, type Named } from '../../client/find-named.ts'
import type { ResponseOf } from '../../client/types.ts'
import type { Client } from '../../connection/client.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { shortId, words } from './output.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export type Company = ResponseOf<'GET /api/companies'>[number]

const namesOfCompany = (company: Company) => [company.name, company.issuePrefix]

/** A record to find, with a word that distinguishes it from others with the same name. */
interface Listed extends Named {
  hint?: string
}

/** Finds a company by its name, prefix or id. Without a reference, returns the only company. */
export async function findCompany(client: Client, ref: string | undefined): Promise<Company> {
  const companies = await client.request('GET /api/companies', { query: { limit: 1000 } })
  if (ref) {
    const { id } = pick(
      companies.map((company) => ({ id: company.id, names: namesOfCompany(company), hint: company.issuePrefix })),
      ref,
      'company',
    )
    return companies.find((company) => company.id === id)!
  }
  if (companies.length === 1) return companies[0]!
  if (companies.length === 0) {
    throw new CliError(EXIT.notFound, 'There is no company yet. Create one with `service company create NAME`.')
  }
  const names = companies.map((company) => `${company.name} (${company.issuePrefix})`).join(', ')
  throw new CliError(EXIT.usage, `There are several companies. Choose one with --company: ${names}.`)
}

type Load = (client: Client, companyId: string) => Promise<Listed[]>

const ALL = { limit: 1000 }

/** Loads the records of a company that a command finds by name. Of runs, approvals and issues, it loads the latest 1,000. */
export const NAMED = {
  agent: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/agents', { params: { companyId }, query: ALL })).map(
      ({ id, name, urlKey, status }) => ({ id, names: [name, urlKey], isGone: status === 'terminated', hint: status }),
    ),
  approval: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/approvals', { params: { companyId }, query: ALL })).map(
      ({ id }) => ({ id, names: [] }),
    ),
  goal: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/goals', { params: { companyId } })).map(({ id, title }) => ({
      id,
      names: [title],
    })),
  issue: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/issues', { params: { companyId }, query: ALL })).map(
      ({ id, identifier }) => ({ id, names: [identifier] }),
    ),
  label: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/labels', { params: { companyId }, query: ALL })).map(
      ({ id, name }) => ({ id, names: [name] }),
    ),
  member: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/members', { params: { companyId }, query: ALL })).map(
      ({ userId, name, email }) => ({ id: userId, names: [name, email] }),
    ),
  project: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/projects', { params: { companyId }, query: ALL })).map(
      ({ id, name, urlKey }) => ({ id, names: [name, urlKey] }),
    ),
  routine: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/routines', { params: { companyId }, query: ALL })).map(
      ({ id, title }) => ({ id, names: [title] }),
    ),
  run: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/runs', { params: { companyId }, query: ALL })).map(
      ({ id }) => ({ id, names: [] }),
    ),
  secret: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/secrets', { params: { companyId }, query: ALL })).map(
      ({ id, name }) => ({ id, names: [name] }),
    ),
  webhook: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/webhooks', { params: { companyId }, query: ALL })).map(
      ({ id, url, description }) => ({ id, names: [url, new URL(url).host, ...(description ? [description] : [])] }),
    ),
  skill: async (client, companyId) =>
    (await client.request('GET /api/companies/:companyId/skills', { params: { companyId }, query: ALL })).map(
      ({ id, key, name }) => ({ id, names: [key, name] }),
    ),
} satisfies Record<string, Load>

export type Noun = keyof typeof NAMED

/** The nouns without names, whose lists begin with the latest record. */
const BY_TIME: readonly Noun[] = ['run', 'approval']

/**
 * Finds the id of a record.
 *
 * @param ref its id, one of its names (case-insensitive), the last characters of
 *   its id as tables print them, or `latest` for a run or approval
 * @throws CliError if no record or more than one matches
 */
export async function findId(
  client: Client,
  noun: Noun,
  ref: string,
  company: () => Promise<{ id: string }>,
): Promise<string> {
  if (UUID.test(ref)) return ref
  const all = await NAMED[noun](client, (await company()).id)
  if (ref === 'latest' && BY_TIME.includes(noun)) {
    if (all[0]) return all[0].id
    throw new CliError(EXIT.notFound, `There is no ${noun} yet.`)
  }
  return pick(all, ref, noun).id
}

/**
 * Finds one record in a list.
 *
 * @throws CliError if no record or more than one matches
 */
export function pick<Item extends Listed>(all: readonly Item[], ref: string, noun: string): Item {
  const found = findNamed(all, ref)
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(EXIT.notFound, `There is no ${noun} ${ref}.`)
  const ids = found.map(({ id, hint }) => `${shortId(id)}${hint === undefined ? '' : ` (${words(hint)})`}`).join(', ')
  throw new CliError(EXIT.conflict, `${found.length} records match ${ref}. Use an id instead: ${ids}.`)
}

/** Returns a function from the id of an agent of a company to its name. */
export async function agentNames(client: Client, companyId: string): Promise<(id: string | null) => string> {
  const agents = await NAMED.agent(client, companyId)
  const names = new Map(agents.map((agent) => [agent.id, agent.names[0]!]))
  return (id) => (id === null ? '' : (names.get(id) ?? shortId(id)))
}

/**
 * Returns a function from the id of a member of a company to that person's name.
 * The person of local trusted mode is "the board". It knows no other names if the
 * caller may not list the members.
 */
export async function personNames(client: Client, companyId: string) {
  const people = await NAMED.member(client, companyId).catch((error: unknown) => {
    if (error instanceof CliError && error.exitCode === EXIT.unreachable) throw error
    return []
  })
  const names = new Map([
    ['local-board', 'the board'],
    ...people.map((person) => [person.id, person.names[0]!] as const),
  ])
  return (id: string | null): string | undefined => (id === null ? undefined : (names.get(id) ?? undefined))
}

/** Returns a function from an issue to the name of its assignee, an agent or a person; empty if it has none. */
export async function assigneeNames(client: Client, companyId: string) {
  const [agentName, personName] = await Promise.all([agentNames(client, companyId), personNames(client, companyId)])
  return ({ assigneeAgentId, assigneeUserId }: { assigneeAgentId: string | null; assigneeUserId: string | null }) =>
    agentName(assigneeAgentId) || (personName(assigneeUserId) ?? assigneeUserId)
}
