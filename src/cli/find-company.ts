import type { Client } from './client.ts'
import { CliError, EXIT } from './exit-codes.ts'

interface Named {
  id: string
  name: string
  issuePrefix: string
}

/** The company that a person means: by its id, its issue prefix or its name, in any case. */
export async function findCompany(client: Client, said: string): Promise<Named> {
  const companies: Named[] = await client.request('GET', '/api/companies?limit=1000')
  const wanted = said.toLowerCase()
  const exact = companies.filter((company) => company.id === said || company.issuePrefix.toLowerCase() === wanted)
  const found = exact.length > 0 ? exact : companies.filter((company) => company.name.toLowerCase() === wanted)
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(EXIT.notFound, `There is no company ${said}.`)
  const ids = found.map((company) => company.issuePrefix).join(', ')
  throw new CliError(EXIT.usage, `Several companies are called ${said}. Say which by its prefix: ${ids}.`)
}
