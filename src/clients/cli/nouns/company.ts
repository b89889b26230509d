import type { ResponseOf } from '../../client/types.ts'
import type { Company } from '../command/find.ts'
import { choice, clearable, dollars, LIMIT, longText, text } from '../command/flag.ts'
import { ago, fields, money, shortId } from '../command/output.ts'
import { createScope, type Scope } from '../command/scope.ts'
import { act, create, edit, list, noun, remove, view } from '../command/verb.ts'
import { exportCommand } from './company-export.ts'
import { importCommand, newCommand } from './company-import.ts'

type Stats = ResponseOf<'GET /api/companies/stats'>[string]

const CHANGE = {
  description: clearable(longText('-d, --description <text>')),
  budgetMonthlyCents: dollars('--budget <dollars>', 'a month; none is no limit'),
}

/** Finds the company of an optional argument. */
const companyOf = (scope: Scope, ref: string | undefined): Promise<Company> =>
  ref === undefined ? scope.company() : createScope({ ...scope.options, company: ref }).company()

const getCompany = (scope: Scope, [ref]: readonly [string | undefined]) => companyOf(scope, ref)

const budgetOf = (company: Company) =>
  company.budgetMonthlyCents === 0 ? 'no limit' : money(company.budgetMonthlyCents)

const statusOf = ({ status, pauseReason }: Company) => (pauseReason ? `${status} (${pauseReason})` : status)

/** Names a company and its prefix, since several companies may have the same name. */
const nameOf = ({ name, issuePrefix }: Company) => `${name} (${issuePrefix})`

const describe = (company: Company, stats?: Stats) =>
  fields([
    ['Name', company.name],
    ['Prefix', company.issuePrefix],
    ['Status', statusOf(company)],
    ['Description', company.description],
    ['This month', `${money(company.spentMonthlyCents)} of ${budgetOf(company)}`],
    ['Agents', stats?.agentCount],
    ['Issues', stats && `${stats.openIssueCount} open of ${stats.issueCount}`],
    ['Projects', stats?.projectCount],
    ['Goals', stats?.goalCount],
    ['Approvals', stats && `${stats.pendingApprovalCount} pending`],
    ['Id', company.id],
  ])

const setStatus = (name: string, summary: string, status: 'active' | 'paused') =>
  act({
    name,
    summary,
    args: ['[company]'],
    examples: [`company ${name} TER`],
    send: async (scope, [ref]) =>
      scope.client.request('PATCH /api/companies/:companyId', {
        params: { companyId: (await companyOf(scope, ref)).id },
        body: { status },
      }),
    text: (company) => `${nameOf(company)} is ${statusOf(company)}.`,
  })

export const companyCommand = () =>
  noun('company', 'Companies: each has its own agents, issues and budget.', [
    list({
      summary: 'List the companies.',
      flags: { limit: { ...LIMIT.limit, default: '500' } },
      examples: ['company list', 'company list --json=name,issuePrefix'],
      empty: 'There is no company yet. Create one with `service company create NAME`, or `service company new`.',
      load: async (scope, query) => scope.client.page('GET /api/companies', { query }),
      columns: {
        Prefix: ({ issuePrefix }) => issuePrefix,
        Name: ({ name }) => name,
        Status: statusOf,
        'This month': ({ spentMonthlyCents }) => money(spentMonthlyCents),
        Budget: budgetOf,
        Age: ({ createdAt }) => ago(createdAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    view({
      summary: 'Show a company.',
      args: ['[company]'],
      examples: ['company view', 'company view TER'],
      page: () => 'dashboard',
      async load(scope, [ref]) {
        const company = await companyOf(scope, ref)
        const stats = (await scope.client.request('GET /api/companies/stats'))[company.id]
        return { ...company, stats }
      },
      text: ({ stats, ...company }) => describe(company, stats),
    }),
    create({
      summary: 'Create a company.',
      args: ['<name>'],
      flags: CHANGE,
      examples: ['company create "Walrus Ltd" --budget 50'],
      send: (scope, [name], body) => scope.client.request('POST /api/companies', { body: { ...body, name } }),
      text: (company) => describe(company),
    }),
    edit({
      summary: 'Change a company.',
      args: ['[company]'],
      flags: {
        name: text('--name <name>'),
        ...CHANGE,
        runMcp: {
          ...choice('--run-mcp <mode>', ['on', 'off', 'default'], 'whether runs get the MCP server of this service'),
          parse: (mode: string) => (mode === 'default' ? null : mode === 'on'),
        },
        status: choice('--status <status>', ['active', 'paused', 'archived']),
      },
      examples: ['company edit TER --budget 100', 'company edit --status paused'],
      load: getCompany,
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/companies/:companyId', {
          params: { companyId: (await companyOf(scope, ref)).id },
          body,
        }),
      text: (company) => describe(company),
    }),
    setStatus('pause', 'Pause a company: its agents start no run.', 'paused'),
    setStatus('resume', 'Resume a paused company.', 'active'),
    remove({
      summary: 'Delete a company with all of its records. This cannot be undone.',
      args: ['<company>'],
      examples: ['company delete TER --yes'],
      ask: async (args, scope) =>
        `Delete ${nameOf(await getCompany(scope, args))} with all of its agents, issues and costs? This cannot be undone.`,
      async send(scope, [ref]) {
        const company = await companyOf(scope, ref)
        const { id, name } = company
        await scope.client.request('DELETE /api/companies/:companyId', {
          params: { companyId: id },
          body: { confirm: name },
        })
        return company
      },
      text: (company) => `${nameOf(company)} is deleted.`,
    }),
    newCommand(),
    importCommand(),
    exportCommand(),
  ])
