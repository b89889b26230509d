import type { ItemOf } from '../../client/types.ts'
import type { Client } from '../../connection/client.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { choice, LIMIT, reference, text } from '../command/flag.ts'
import { cost, fields, localTime, money, shortId, table } from '../command/output.ts'
import { list, noun, verb, view } from '../command/verb.ts'

/** The common fields of all reports. */
type Row<By extends Grouping> = ItemOf<`GET /api/companies/:companyId/costs/by-${By}`>
type Grouping = 'agent' | 'project' | 'issue' | 'model' | 'provider' | 'day'

const DAYS = {
  from: text('--from <day>', 'the first UTC day (default: the first of this month)'),
  to: text('--to <day>', 'the last UTC day (default: today)'),
}

/** The groupings of costs: how each is requested, and the text that names a row. */
const BY = {
  agent: report('agent', 'Agent', (row) => row.agentName ?? 'The company itself'),
  project: report('project', 'Project', (row) => row.projectName ?? 'No project'),
  issue: report('issue', 'Issue', (row) => (row.identifier ? `${row.identifier} ${row.title}` : 'No issue')),
  model: report('model', 'Model', (row) => `${row.provider}/${row.model}`),
  provider: report('provider', 'Provider', (row) => row.provider),
  day: report('day', 'Day', (row) => row.date),
}

export const costCommand = () =>
  noun('cost', 'Costs of runs, and budgets.', [
    view({
      summary: 'Sum up what a company spent.',
      flags: DAYS,
      examples: ['cost view', 'cost view --from 2026-11-01'],
      page: () => 'costs',
      load: async (scope, _, query) =>
        scope.client.request('GET /api/companies/:companyId/costs/summary', { params: await scope.inCompany(), query }),
      text: (sum) =>
        fields([
          ['Days', `${sum.from} to ${sum.to}`],
          ['Spent', cost(sum.spendCents, sum.unpricedEventCount > 0)],
          [
            'Budget',
            sum.budgetCents === 0 ? 'no limit' : `${money(sum.budgetCents)} a month, ${sum.utilizationPercent} % used`,
          ],
          ['Tokens', `${sum.inputTokens} in, ${sum.cachedInputTokens} cached, ${sum.outputTokens} out`],
          ['Unpriced', sum.unpricedEventCount || null],
        ]),
    }),
    verb({
      name: 'by',
      summary: `Sum up the costs by ${Object.keys(BY).join(', ')}.`,
      args: ['<what>'],
      flags: DAYS,
      examples: ['cost by agent', 'cost by issue --json', 'cost by day --from 2026-11-01'],
      async run(scope, [what], days) {
        if (!Object.hasOwn(BY, what)) {
          throw new CliError(EXIT.usage, `Costs are summed up by ${Object.keys(BY).join(', ')}, not by ${what}.`)
        }
        const { heading, load } = BY[what as Grouping]
        const { rows, names } = await load(scope.client, (await scope.inCompany()).companyId, days)
        const cells = rows.map((row, i) => [
          names[i]!,
          cost(row.costCents, row.unpricedEventCount > 0),
          String(row.inputTokens),
          String(row.cachedInputTokens),
          String(row.outputTokens),
        ])
        return {
          value: rows,
          text: () =>
            rows.length === 0
              ? 'Nothing was spent.'
              : table([[heading, 'Cost', 'Input', 'Cached', 'Output'], ...cells]),
        }
      },
    }),
    list({
      name: 'events',
      summary: 'List the cost events, the latest first.',
      flags: {
        ...LIMIT,
        ...DAYS,
        agentId: reference('agent', '-a, --agent <agent>'),
        issueId: text('-i, --issue <issue>'),
        projectId: reference('project', '--project <project>'),
        runId: reference('run', '--run <run>'),
        provider: text('--provider <name>'),
        model: text('--model <name>'),
        costStatus: choice('--status <status>', ['reported', 'estimated', 'unpriced']),
      },
      examples: ['cost events', 'cost events --agent Kit --from 2026-11-01'],
      empty: 'Nothing was spent.',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/cost-events', { params: await scope.inCompany(), query }),
      async columns(scope) {
        const nameOf = await scope.agentNames()
        return {
          Time: ({ occurredAt }) => localTime(occurredAt),
          Agent: ({ agentId }) => nameOf(agentId),
          Model: ({ provider, model }) => `${provider}/${model}`,
          Cost: ({ costCents, costStatus }) => cost(costCents ?? 0, costStatus === 'unpriced'),
          Input: ({ inputTokens }) => inputTokens,
          Output: ({ outputTokens }) => outputTokens,
          Run: ({ heartbeatRunId }) => heartbeatRunId && shortId(heartbeatRunId),
        }
      },
    }),
    verb({
      name: 'export',
      summary: 'Print all cost events as CSV.',
      flags: { ...DAYS, agentId: reference('agent', '-a, --agent <agent>') },
      examples: ['cost export > costs.csv', 'cost export --from 2026-11-01'],
      async run(scope, _, query) {
        const params = await scope.inCompany()
        const csv = await scope.client.request('GET /api/companies/:companyId/cost-events.csv', { params, query })
        process.stdout.write(String(csv))
      },
    }),
  ])

/** Describes one grouping of costs. */
function report<const By extends Grouping>(by: By, heading: string, nameOf: (row: Row<By>) => string) {
  return {
    heading,
    async load(client: Client, companyId: string, query: { from?: string; to?: string }) {
      const name: `GET /api/companies/:companyId/costs/by-${Grouping}` = `GET /api/companies/:companyId/costs/by-${by}`
      const rows = await client.request(name, { params: { companyId }, query })
      return { rows, names: (rows as Row<By>[]).map(nameOf) }
    },
  }
}
