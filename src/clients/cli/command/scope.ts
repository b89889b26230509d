import type { Client } from '../../connection/client.ts'
import { type ConnectionOptions, connect } from '../../connection/connect.ts'
import { agentNames, type Company, findCompany, findId, type Noun } from './find.ts'

/** The options that every verb has. */
export interface Options extends ConnectionOptions {
  company?: string
  /** The fields to print, separated by commas; empty for all. */
  json?: string
  jq?: string
  web?: boolean
  /** False with `--no-input`. */
  input?: boolean
  yes?: boolean
}

/** The context of a command: its options, its client and its company. The company is requested at its first use, once. */
export interface Scope {
  readonly options: Options
  readonly client: Client
  company(): Promise<Company>
  /** The parameters of an endpoint of the company. */
  inCompany(): Promise<{ companyId: string }>
  /** Finds the id of a record by its name, key, or the end of its id. */
  find(noun: Noun, ref: string): Promise<string>
  /** Returns a function from the id of an agent to its name. */
  agentNames(): Promise<(id: string | null) => string>
}

/**
 * Creates the context of a command.
 *
 * @param issue an issue that the command line names; without `--company`, its company is used
 */
export function createScope(options: Options, issue?: string): Scope {
  const client = connect(options, process.env)
  let found: Promise<Company> | undefined
  const companyOfIssue = async (issueId: string) =>
    (await client.request('GET /api/issues/:issueId', { params: { issueId } })).companyId
  const findOne = async () =>
    findCompany(
      client,
      options.company ?? (issue === undefined ? process.env.SERVICE_COMPANY_ID : await companyOfIssue(issue)),
    )
  const scope: Scope = {
    options,
    client,
    company: () => {
      found ??= findOne()
      return found
    },
    inCompany: async () => ({ companyId: (await scope.company()).id }),
    find: (noun, ref) => findId(client, noun, ref, () => scope.company()),
    agentNames: async () => agentNames(client, (await scope.company()).id),
  }
  return scope
}
