import type { BodyOf, ResponseOf } from '../client/types.ts'
import { exportCommand } from './company-export.ts'
import { importCommand, newCommand } from './company-import.ts'
import { type Company, findCompany } from './find.ts'
import { parseDollars } from './input.ts'
import { ago, fields, money, shortId, table } from './output.ts'
import { clientOf, mapDefined, noun, type Options, show, verb } from './verb.ts'

interface Change extends Options {
  name?: string
  description?: string
  budget?: string
  status?: BodyOf<'PATCH /api/companies/:companyId'>['status']
  prefix?: string
}

type Stats = ResponseOf<'GET /api/companies/stats'>[string]

export const companyCommand = () =>
  noun('company', 'Companies: each has its own agents, issues and budget.', [
    verb('list', 'List the companies.', ['company list', 'company list --json']).action(list),
    verb('show', 'Show a company.', ['company show', 'company show TER'])
      .argument('[company]', 'its name, prefix or id')
      .action(showOne),
    verb('create', 'Create a company.', ['company create "Tern & Co" --budget 50'])
      .argument('<name>')
      .option('--description <text>')
      .option('--budget <dollars>', 'a month; 0 is no limit')
      .action(create),
    verb('update', 'Change a company.', ['company update TER --budget 100', 'company update --status paused'])
      .argument('[company]', 'its name, prefix or id')
      .option('--name <name>')
      .option('--description <text>')
      .option('--budget <dollars>', 'a month; 0 is no limit')
      .option('--status <status>', 'active, paused or archived')
      .action(update),
    newCommand(),
    importCommand(),
    exportCommand(),
  ])

async function list(options: Options): Promise<void> {
  const companies = await clientOf(options).request('GET /api/companies')
  show(options, companies, () => {
    const rows = companies.map((company) => [
      company.issuePrefix,
      company.name,
      company.status,
      money(company.spentMonthlyCents),
      budgetOf(company),
      ago(company.createdAt),
      shortId(company.id),
    ])
    return table([['Prefix', 'Name', 'Status', 'This month', 'Budget', 'Age', 'Id'], ...rows])
  })
}

async function showOne(ref: string | undefined, options: Options): Promise<void> {
  const client = clientOf(options)
  const company = await findCompany(client, ref === undefined ? options : { ...options, company: ref })
  const stats = (await client.request('GET /api/companies/stats'))[company.id]
  show(options, { ...company, stats }, () => describe(company, stats))
}

const describe = (company: Company, stats?: Stats) =>
  fields([
    ['Name', company.name],
    ['Prefix', company.issuePrefix],
    ['Status', company.pauseReason ? `${company.status} (${company.pauseReason})` : company.status],
    ['Description', company.description],
    ['This month', `${money(company.spentMonthlyCents)} of ${budgetOf(company)}`],
    ['Agents', stats?.agentCount],
    ['Issues', stats && `${stats.openIssueCount} open of ${stats.issueCount}`],
    ['Projects', stats?.projectCount],
    ['Goals', stats?.goalCount],
    ['Approvals', stats && `${stats.pendingApprovalCount} pending`],
    ['Id', company.id],
  ])

async function create(name: string, options: Change): Promise<void> {
  const company = await clientOf(options).request('POST /api/companies', { body: { ...changeOf(options), name } })
  show(options, company, () => describe(company))
}

async function update(ref: string | undefined, options: Change): Promise<void> {
  const client = clientOf(options)
  const { id } = await findCompany(client, ref === undefined ? options : { ...options, company: ref })
  const company = await client.request('PATCH /api/companies/:companyId', {
    params: { companyId: id },
    body: { ...changeOf(options), name: options.name, status: options.status },
  })
  show(options, company, () => describe(company))
}

const changeOf = ({ description, budget }: Change) => ({
  description,
  budgetMonthlyCents: mapDefined(budget, parseDollars),
})

const budgetOf = (company: Company) =>
  company.budgetMonthlyCents === 0 ? 'no limit' : money(company.budgetMonthlyCents)
