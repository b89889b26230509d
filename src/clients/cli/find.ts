import type { ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { shortId } from './output.ts'
import { clientOf, type Options } from './verb.ts'

interface Named {
  id: string
  name?: string | null
  title?: string | null
  urlKey?: string
  issuePrefix?: string
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export type Company = ResponseOf<'GET /api/companies'>[number]

/** Finds the company of a command: that of the flag, else that of the environment, else the only company. */
export async function findCompany(client: Client, options: Options): Promise<Company> {
  const companies = await client.request('GET /api/companies', { query: { limit: 1000 } })
  const ref = options.company ?? (process.env.SERVICE_COMPANY_ID || undefined)
  if (ref !== undefined) return pick(companies, ref, 'company')
  if (companies.length === 1) return companies[0]!
  if (companies.length === 0) {
    throw new CliError(EXIT.notFound, 'There is no company yet. Create one with `service company create NAME`.')
  }
  const names = companies.map((company) => `${company.name} (${company.issuePrefix})`).join(', ')
  throw new CliError(EXIT.usage, `Which company? Name it with --company: ${names}.`)
}

/** Returns the client and the company of a command. */
export async function inCompany(options: Options): Promise<{ client: Client; companyId: string }> {
  const client = clientOf(options)
  return { client, companyId: (await findCompany(client, options)).id }
}

type Noun = 'agent' | 'goal' | 'project' | 'routine' | 'run' | 'approval'

/** The lists of a company that a command searches by name. */
const LISTS: Record<Noun, (client: Client, companyId: string) => Promise<readonly Named[]>> = {
  agent: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/agents', { params: { companyId }, query: { limit: 1000 } }),
  goal: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/goals', { params: { companyId } }),
  project: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/projects', { params: { companyId }, query: { limit: 1000 } }),
  routine: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/routines', { params: { companyId }, query: { limit: 1000 } }),
  run: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/runs', { params: { companyId }, query: { limit: 1000 } }),
  approval: (client: Client, companyId: string) =>
    client.request('GET /api/companies/:companyId/approvals', { params: { companyId }, query: { limit: 1000 } }),
}

/**
 * Finds the id of a record. The reference is its id, its name or title in any
 * case, its key, or the last characters of its id, as tables print them. Runs
 * and approvals have no name; only the latest 1000 are searched.
 */
export async function findId(options: Options, noun: Noun, ref: string): Promise<string> {
  if (UUID.test(ref)) return ref
  const { client, companyId } = await inCompany(options)
  return pick(await LISTS[noun](client, companyId), ref, noun).id
}

function pick<Item extends Named>(all: readonly Item[], ref: string, noun: string): Item {
  const wanted = ref.toLowerCase()
  const hasName = (one: Item) =>
    [one.id, one.name, one.title, one.urlKey, one.issuePrefix].some((name) => name?.toLowerCase() === wanted)
  const named = all.filter(hasName)
  const found = named.length > 0 ? named : all.filter((one) => wanted.length >= 4 && one.id.endsWith(wanted))
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(EXIT.notFound, `No such ${noun} here: ${ref}.`)
  const ids = found.map((one) => shortId(one.id)).join(', ')
  throw new CliError(EXIT.conflict, `${found.length} have the name ${ref}. Use an id instead: ${ids}.`)
}

/** Returns a function from the id of an agent of a company to its name. */
export async function agentNames(client: Client, companyId: string): Promise<(id: string | null) => string> {
  const agents = await client.request('GET /api/companies/:companyId/agents', {
    params: { companyId },
    query: { limit: 1000 },
  })
  const names = new Map(agents.map((agent) => [agent.id, agent.name]))
  return (id) => (id === null ? '' : (names.get(id) ?? shortId(id)))
}

/**
 * Returns a function from the id of a member of a company to that person's name.
 * It knows no names if the caller may not list the members, and in local trusted mode.
 */
export async function personNames(client: Client, companyId: string) {
  const people = await client
    .request('GET /api/companies/:companyId/members', { params: { companyId }, query: { limit: 1000 } })
    .catch((error: unknown) => {
      if (error instanceof CliError && error.exitCode === EXIT.unreachable) throw error
      return []
    })
  const names = new Map(people.map((person) => [person.userId, person.name]))
  return (id: string | null): string | undefined => (id === null ? undefined : names.get(id))
}
