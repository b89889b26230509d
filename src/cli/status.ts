import { Command } from 'commander'
import { dataDirOf } from '../config.ts'
import { readServerInfo } from '../database/server-info.ts'
import type { Client } from './client.ts'
import { type ConnectionOptions, connect, withConnection } from './connection.ts'
import { money, print, printJson, table } from './output.ts'

interface StatusOptions extends ConnectionOptions {
  json?: boolean
}

export const statusCommand = () =>
  withConnection(new Command('status'))
    .description('Say whether the server is up and what its companies are doing.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service status\n  $ service status --json --data-dir ./data')
    .action(status)

async function status(options: StatusOptions): Promise<void> {
  const client = connect(options, process.env)
  const health = await client.request('GET', '/api/health')
  const info = readServerInfo(dataDirOf(options, process.env))
  const pid = info?.instance === health.instance ? info?.pid : null
  const companies = await countsOf(client)
  if (options.json) {
    printJson({ url: client.url, pid, ...health, companies })
    return
  }
  print(`service ${health.version} is up at ${client.url}${pid ? ` (pid ${pid})` : ''}, ${health.mode}`)
  if (!companies) return print('Give an agent key with --token to see what it does.')
  if (companies.length === 0) return print('No company yet.')
  print('')
  const rows = companies.map((company) => [
    company.name,
    company.status,
    `${company.runningAgents} of ${company.agents}`,
    String(company.openIssues),
    String(company.pendingApprovals),
    money(company.spentMonthlyCents),
  ])
  print(table([['Company', 'Status', 'Agents running', 'Open issues', 'Approvals', 'This month'], ...rows]))
}

interface CompanyCounts {
  id: string
  name: string
  status: string
  agents: number
  runningAgents: number
  openIssues: number
  pendingApprovals: number
  spentMonthlyCents: number
}

/** @returns null when the server shows its companies to this caller not at all */
async function countsOf(client: Client): Promise<CompanyCounts[] | null> {
  const answer = await client.ask({ method: 'GET', path: '/api/companies' })
  if (answer.status === 401) return null
  const companies = answer.body as { id: string; name: string; status: string; spentMonthlyCents: number }[]
  return Promise.all(
    companies.map(async ({ id, name, status, spentMonthlyCents }) => {
      const agents: { status: string }[] = await client.request('GET', `/api/companies/${id}/agents`)
      return {
        id,
        name,
        status,
        agents: agents.filter((agent) => agent.status !== 'terminated').length,
        runningAgents: agents.filter((agent) => agent.status === 'running').length,
        openIssues: await count(client, `/api/companies/${id}/issues?status=${OPEN_STATUSES}`),
        pendingApprovals: await count(client, `/api/companies/${id}/approvals?status=pending`),
        spentMonthlyCents,
      }
    }),
  )
}

const OPEN_STATUSES = 'backlog,todo,in_progress,in_review,blocked'

/** How many a list has, over all its pages. */
async function count(client: Client, path: string): Promise<number> {
  const { headers, body } = await client.ask({ method: 'GET', path: `${path}&count=true` })
  return Number(headers['x-total-count'] ?? (body as unknown[]).length)
}
