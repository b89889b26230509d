import type { ResponseOf } from '../../client/types.ts'
import type { Company } from '../command/find.ts'
import { choice, clearable, dollars, LIMIT, longText, text } from '../command/flag.ts'
import { ago, fields, money, shortId } from '../command/output.ts'
import { createScope, type Scope } from '../command/scope.ts'
import { create, edit, list, noun, remove, view } from '../command/verb.ts'
import { exportCommand } from './company-export.ts'
import { importCommand, newCommand } from './company-import.ts'

type Stats = ResponseOf<'GET /api/companies/stats'>[string]

const CHANGE = {
  description: clearable(longText('-d, --description <text>')),
  budgetMonthlyCents: dollars('--budget <dollars>', 'a month; 0 is no limit'),
}

/** Finds the company of an optional argument. */
const companyOf = (scope: Scope, ref: string | undefined): Promise<Company> =>
  ref === undefined ? scope.company() : createScope({ ...scope.options, company: ref }).company()

const getCompany = (scope: Scope, [ref]: readonly [string | undefined]) => companyOf(scope, ref)

const budgetOf = (company: Company) =>
  company.budgetMonthlyCents === 0 ? 'no limit' : money(company.budgetMonthlyCents)

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
        Status: ({ status }) => status,
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
    remove({
      summary: 'Delete a company with all of its records. This cannot be undone.',
      args: ['<company>'],
      examples: ['company delete TER --yes'],
      ask: ([ref]) => `Delete ${ref} with all of its agents, issues and costs? This cannot be undone.`,
      async send(scope, [ref]) {
        const { id, name } = await companyOf(scope, ref)
        await scope.client.request('DELETE /api/companies/:companyId', {
          params: { companyId: id },
          body: { confirm: name },
        })
        return { id, name }
      },
      text: ({ name }) => `${name} is deleted.`,
    }),
    newCommand(),
    importCommand(),
    exportCommand(),
  ])
