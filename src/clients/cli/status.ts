import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { readServerInfo } from '../../platform/database/server-info.ts'
import { type Client, createClient, errorOf } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { lineOf } from '../connection/exit-codes.ts'
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
  // Without the token: a server that refuses it is up all the same.
  const health = await createClient({ url: client.url }).request('GET /api/health')
  const info = readServerInfo(dataDirOf(options, process.env))
  const pid = info?.instance === health.instance ? info?.pid : null
  const answer = await client.send({ method: 'GET', path: '/api/companies' })
  const companies = answer.status < 400 ? await countsOf(client, answer.body as Company[]) : null
  if (options.json) printJson({ url: client.url, pid, ...health, companies })
  else print(`service ${health.version} is up at ${client.url}${pid ? ` (pid ${pid})` : ''}, ${health.mode}`)
  if (!companies) return tellRefusal(errorOf(answer, client), client)
  if (options.json) return
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

/** Fails where a token was given and refused; without one the server is up, and that was asked. */
function tellRefusal(error: Error, { token }: Client): void {
  if (token) throw error
  process.stderr.write(`${lineOf(error)}\n`)
}

interface Company {
  id: string
  name: string
  status: string
  spentMonthlyCents: number
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

function countsOf(client: Client, companies: readonly Company[]): Promise<CompanyCounts[]> {
  return Promise.all(
    companies.map(async ({ id, name, status, spentMonthlyCents }) => {
      const agents = await client.request('GET /api/companies/:companyId/agents', { params: { companyId: id } })
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
  const { headers, body } = await client.send({ method: 'GET', path: `${path}&count=true` })
  return Number(headers['x-total-count'] ?? (body as unknown[]).length)
}
