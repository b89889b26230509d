import { dataDirOf } from '../../platform/config.ts'
import { readServerInfo } from '../../platform/database/server-info.ts'
import type { ItemOf, ResponseOf } from '../client/types.ts'
import { type Client, createClient, errorOf } from '../connection/client.ts'
import { lineOf } from '../connection/exit-codes.ts'
import { readHealth } from '../connection/health.ts'
import { programName } from './command/as-started.ts'
import { localTime, money, paint, print, table, words } from './command/output.ts'
import { verb } from './command/verb.ts'
import { frozenLine } from './nouns/held.ts'

type Company = ItemOf<'GET /api/companies'>
type Agent = ItemOf<'GET /api/companies/:companyId/agents'>
type Instance = ResponseOf<'GET /api/instance'>

export const statusCommand = () =>
  verb({
    name: 'status',
    summary: 'Show whether the server is running, the state of its companies, and pending decisions.',
    examples: ['status', 'status --json=url,companies'],
    async run({ client, options }) {
      // The first request verifies the instance of the data directory. The second needs no token: a server that refuses the token is running.
      const response = await client.send({ method: 'GET', path: '/api/companies?limit=1000' })
      const health = await readHealth(createClient({ url: client.url }))
      const info = readServerInfo(dataDirOf(options, process.env))
      const pid = info?.instance === health.instance ? info?.pid : null
      const isAdmitted = response.status < 400
      const instance = isAdmitted ? await client.request('GET /api/instance').catch(() => null) : null
      const companies = isAdmitted
        ? await Promise.all((response.body as Company[]).map((company) => stateOf(client, company)))
        : null
      const place = `${client.url}${pid ? ` (pid ${pid})` : ''}, ${health.mode}`
      const up = `service ${health.version} is running at ${place}${health.problem ? `. ${health.problem}` : ''}`
      if (!isAdmitted) {
        const error = errorOf(response, client)
        if (client.token) {
          print(up)
          throw error
        }
        process.stderr.write(`${lineOf(error)}\n`)
      }
      return {
        value: { url: client.url, pid, ...health, isFrozen: instance?.isFrozen ?? null, companies },
        text: () => (companies ? describe(up, instance, companies) : up),
      }
    },
  })

interface State {
  id: string
  name: string
  status: string
  pauseReason: string | null
  agents: number
  runningAgents: number
  /** The agents that cannot work until a person intervenes. */
  failingAgents: { name: string; status: string; reason: string }[]
  openIssues: number
  pendingApprovals: number
  spentMonthlyCents: number
  budgetMonthlyCents: number
}

async function stateOf(client: Client, company: Company): Promise<State> {
  const { id, name, status, pauseReason, spentMonthlyCents, budgetMonthlyCents } = company
  const params = { companyId: id }
  const [agents, dashboard] = await Promise.all([
    client.request('GET /api/companies/:companyId/agents', { params, query: { limit: 1000 } }),
    client.request('GET /api/companies/:companyId/dashboard', { params }),
  ])
  const live = agents.filter((agent) => agent.status !== 'terminated')
  return {
    id,
    name,
    status,
    pauseReason,
    agents: live.length,
    runningAgents: live.filter((agent) => agent.status === 'running').length,
    failingAgents: live.flatMap((agent) => {
      const reason = failureOf(agent)
      return reason === null ? [] : [{ name: agent.name, status: agent.status, reason }]
    }),
    openIssues: dashboard.tasks.open,
    pendingApprovals: dashboard.pendingApprovals,
    spentMonthlyCents,
    budgetMonthlyCents,
  }
}

/** Returns why an agent fails. Null if it works, or if a person paused it. */
function failureOf(agent: Agent): string | null {
  if (agent.status === 'error') return agent.errorReason ?? 'in error'
  if (agent.status === 'paused')
    return agent.pauseReason === 'manual' ? null : (agent.pauseMessage ?? agent.pauseReason)
  return agent.heldUntil === null ? null : `held until ${localTime(agent.heldUntil)}: ${agent.heldBecause}`
}

function describe(up: string, instance: Instance | null, companies: readonly State[]): string {
  if (companies.length === 0)
    return `${up}\nThere is no company yet. Create one with: ${programName()} company new --template software-team`
  const rows = companies.map((company) => [
    company.name,
    company.pauseReason ? `${company.status} (${company.pauseReason})` : company.status,
    `${company.runningAgents} of ${company.agents}`,
    String(company.openIssues),
    String(company.pendingApprovals),
    money(company.spentMonthlyCents),
    company.budgetMonthlyCents === 0 ? 'no limit' : money(company.budgetMonthlyCents),
  ])
  const failing = companies.flatMap(({ name: company, failingAgents }) =>
    failingAgents.map(({ name, status, reason }) => [`  ${name}`, company, words(status), reason]),
  )
  const approvals = companies.reduce((sum, { pendingApprovals }) => sum + pendingApprovals, 0)
  return [
    up,
    ...(instance?.isFrozen ? [paint('bad', frozenLine(instance))] : []),
    '',
    table([['Company', 'Status', 'Running', 'Open issues', 'Approvals', 'This month', 'Budget'], ...rows]),
    ...(failing.length > 0 ? ['', paint('bad', 'These agents cannot work:'), table(failing)] : []),
    ...(approvals > 0 ? ['', `Decide with: ${programName()} approval list, ${programName()} approval approve ID`] : []),
  ].join('\n')
}
