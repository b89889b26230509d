import type { ResponseOf } from '../../client/types.ts'
import { text, withDefault } from '../command/flag.ts'
import { fields, money, oneLine, paint, shortId, table, words } from '../command/output.ts'
import { list, noun, view } from '../command/verb.ts'
import { frozenLine } from './held.ts'

export const searchCommand = () =>
  view({
    name: 'search',
    summary: 'Search issues, comments, agents, projects and goals.',
    args: ['<words>'],
    flags: { limit: withDefault(text('-n, --limit <count>', 'the maximum number of results of each kind'), '10') },
    examples: ['search tide', 'search "tide table" --json'],
    load: async (scope, [q], query) =>
      scope.client.request('GET /api/companies/:companyId/search', {
        params: await scope.inCompany(),
        query: { ...query, q },
      }),
    text({ issues, comments, agents, projects, goals }) {
      const rows = [
        ...issues.map(({ identifier, title, status }) => ['issue', identifier, title, words(status)]),
        ...comments.map(({ identifier, snippet }) => ['comment', identifier, snippet, '']),
        ...agents.map(({ name, role, status }) => ['agent', name, role, words(status)]),
        ...projects.map(({ name, status }) => ['project', name, '', words(status)]),
        ...goals.map(({ id, title, status }) => ['goal', shortId(id), title, words(status)]),
      ]
      return rows.length === 0 ? 'Nothing was found.' : table(rows)
    },
  })

export const whoamiCommand = () =>
  view({
    name: 'whoami',
    summary: 'Show your identity at the server.',
    examples: ['whoami'],
    load: ({ client }) => client.request('GET /api/whoami'),
    async text(identity, { client }) {
      const companies =
        identity.memberships.length === 0 ? [] : await client.request('GET /api/companies', { query: { limit: 1000 } })
      const companyName = (id: string) => companies.find((company) => company.id === id)?.name ?? shortId(id)
      return fields([
        ['Server', client.url],
        ['Name', identity.name],
        ['Type', `${identity.type === 'agent' ? 'agent' : 'person'}, ${VIA[identity.via]}`],
        ['Email', identity.email],
        ['Role', identity.role],
        [
          'Memberships',
          identity.memberships.map(({ companyId, role }) => `${role} of ${companyName(companyId)}`).join(', '),
        ],
        ['Run', identity.runId],
        ['Id', identity.agentId ?? identity.userId],
      ])
    },
  })

/** How the server knows the caller. */
const VIA = {
  local: 'in local trusted mode',
  session: 'by a session',
  token: 'by a token',
  agent_key: 'by an agent key',
  run_token: 'by the token of a run',
}

type Node = ResponseOf<'GET /api/companies/:companyId/org'>[number]

const treeOf = (nodes: readonly Node[], held: ReadonlySet<string>, depth = 0): string[] =>
  nodes.flatMap((node) => [
    `${'  '.repeat(depth)}${paint('strong', oneLine(node.name))}, ${oneLine(node.title ?? node.role)} (${held.has(node.id) ? 'held' : words(node.status)})`,
    ...treeOf(node.reports as Node[], held, depth + 1),
  ])

export const orgCommand = () =>
  view({
    name: 'org',
    summary: 'Show the org chart as a tree.',
    examples: ['org', 'org --json'],
    page: () => 'org',
    load: async (scope) =>
      scope.client.request('GET /api/companies/:companyId/org', { params: await scope.inCompany() }),
    async text(nodes, { client, inCompany }) {
      const agents = await client.request('GET /api/companies/:companyId/agents', {
        params: await inCompany(),
        query: { limit: 1000 },
      })
      const held = agents.filter(({ status, heldUntil }) => status === 'idle' && heldUntil !== null)
      return treeOf(nodes, new Set(held.map(({ id }) => id))).join('\n') || 'There are no agents.'
    },
  })

export const dashboardCommand = () =>
  view({
    name: 'dashboard',
    summary: 'Show the current numbers of a company.',
    examples: ['dashboard'],
    page: () => 'dashboard',
    load: async (scope) =>
      scope.client.request('GET /api/companies/:companyId/dashboard', { params: await scope.inCompany() }),
    async text({ companyId, agents, tasks, costs, pendingApprovals, staleTaskList, runActivity }, { client }) {
      const [instance, company] = await Promise.all([
        client.request('GET /api/instance').catch(() => null), // an agent may not read it
        client.request('GET /api/companies/:companyId', { params: { companyId } }).catch(() => null),
      ])
      const stops = [
        ...(instance?.isFrozen ? [frozenLine(instance)] : []),
        ...(company && company.status !== 'active' ? [`The company is ${company.status}: no run starts.`] : []),
      ]
      const today = runActivity.at(-1)
      const head = fields([
        [
          'Agents',
          `${agents.running} running, ${agents.active} idle, ${agents.paused} paused, ${agents.error} in error`,
        ],
        [
          'Issues',
          `${tasks.open} open: ${tasks.inProgress} in progress, ${tasks.inReview} in review, ${tasks.blocked} blocked`,
        ],
        ['Done', tasks.done],
        [
          'Spent',
          `${money(costs.monthSpendCents)} of ${costs.monthBudgetCents === 0 ? 'no limit' : money(costs.monthBudgetCents)} this month`,
        ],
        ['Approvals', `${pendingApprovals} waiting`],
        ['Runs today', today && `${today.total}, ${today.failed} failed`],
      ])
      const top = [...stops.map((line) => paint('bad', line)), head].join('\n')
      if (staleTaskList.length === 0) return top
      const stale = staleTaskList.map(({ identifier, title, assigneeName }) => [identifier, title, assigneeName ?? ''])
      return `${top}\n\nNo agent works on these issues:\n${table(stale)}`
    },
  })

export const templateCommand = () =>
  noun('template', 'Templates: ready-made companies.', [
    list({
      summary: 'List the templates of `service company new`.',
      examples: ['template list'],
      empty: 'There are no templates.',
      load: ({ client }) => client.request('GET /api/templates'),
      columns: {
        Template: ({ name }) => name,
        Title: ({ title }) => title,
        Description: ({ description }) => description,
      },
    }),
  ])
