import type { Client } from './client.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { shortId } from './output.ts'
import { clientOf, type Options } from './verb.ts'

interface Named {
  id: string
  name?: string
  title?: string
  urlKey?: string
  issuePrefix?: string
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The company that is meant: the flag, else the environment's, else the only one. */
export async function findCompany(client: Client, options: Options): Promise<Named & { name: string }> {
  const companies: (Named & { name: string })[] = await client.request('GET', '/api/companies?limit=1000')
  const ref = options.company ?? (process.env.SERVICE_COMPANY_ID || undefined)
  if (ref !== undefined) return pick(companies, ref, 'company') as Named & { name: string }
  if (companies.length === 1) return companies[0]!
  if (companies.length === 0) {
    throw new CliError(EXIT.notFound, 'There is no company yet. Make one with `service company create NAME`.')
  }
  const names = companies.map((company) => `${company.name} (${company.issuePrefix})`).join(', ')
  throw new CliError(EXIT.usage, `Which company? Name it with --company: ${names}.`)
}

/** The server and the path of the company that a command is about. */
export async function inCompany(options: Options): Promise<{ client: Client; path: string }> {
  const client = clientOf(options)
  return { client, path: `/api/companies/${(await findCompany(client, options)).id}` }
}

/** What the lists of a company that can be searched by name are called. */
const LISTS = {
  agent: 'agents?limit=1000',
  goal: 'goals',
  project: 'projects?limit=1000',
  routine: 'routines?limit=1000',
}

/**
 * Finds something by its id, its name or title in any case, its key, or the
 * last characters of its id as tables show them.
 *
 * @returns its id
 */
export async function findId(options: Options, what: keyof typeof LISTS, ref: string): Promise<string> {
  if (UUID.test(ref)) return ref
  const { client, path } = await inCompany(options)
  return pick(await client.request('GET', `${path}/${LISTS[what]}`), ref, what).id
}

/** Finds what has no name by its id, or by the last characters of it among the latest of a list. */
export async function findByShortId(options: Options, list: 'runs' | 'approvals', ref: string): Promise<string> {
  if (UUID.test(ref)) return ref
  const { client, path } = await inCompany(options)
  return pick(await client.request('GET', `${path}/${list}?limit=1000`), ref, list.slice(0, -1)).id
}

function pick(all: readonly Named[], ref: string, what: string): Named {
  const wanted = ref.toLowerCase()
  const isCalled = (one: Named) =>
    [one.id, one.name, one.title, one.urlKey, one.issuePrefix].some((name) => name?.toLowerCase() === wanted)
  const called = all.filter(isCalled)
  const found = called.length > 0 ? called : all.filter((one) => wanted.length >= 4 && one.id.endsWith(wanted))
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(EXIT.notFound, `There is no ${what} ${ref} here.`)
  const ids = found.map((one) => shortId(one.id)).join(', ')
  throw new CliError(EXIT.conflict, `${found.length} are called ${ref}. Name one by its id: ${ids}.`)
}

/** How the agents of a company are called, by id. */
export async function agentNames(client: Client, path: string): Promise<(id: string | null) => string> {
  const agents: { id: string; name: string }[] = await client.request('GET', `${path}/agents?limit=1000`)
  const names = new Map(agents.map((agent) => [agent.id, agent.name]))
  return (id) => (id === null ? '' : (names.get(id) ?? shortId(id)))
}

/**
 * Looks up how the people of a company are called, for who may know; where
 * nobody signs in there are none.
 */
export async function personNames(client: Client, path: string): Promise<(id: string | null) => string | undefined> {
  const { status, body } = await client.ask({ method: 'GET', path: `${path}/members?limit=1000` })
  const people = status === 200 ? (body as { userId: string; name: string }[]) : []
  const names = new Map(people.map((person) => [person.userId, person.name]))
  return (id) => (id === null ? undefined : names.get(id))
}
