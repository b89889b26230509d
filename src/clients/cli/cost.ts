import { Argument } from 'commander'
import type { ItemOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { inCompany } from './find.ts'
import { cost, fields, money, table } from './output.ts'
import { noun, type Options, show, verb } from './verb.ts'

interface Days extends Options {
  from?: string
  to?: string
}

/** What every row of a report carries. */
type Row<By extends Grouping> = ItemOf<`GET /api/companies/:companyId/costs/by-${By}`>
type Grouping = 'agent' | 'project' | 'issue' | 'model' | 'provider' | 'day'

const withDays = (command: ReturnType<typeof verb>) =>
  command
    .option('--from <day>', 'the first UTC day (default: the first of this month)')
    .option('--to <day>', 'the last UTC day (default: today)')

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
  noun('cost', 'Costs: what was spent, and on what.', [
    withDays(verb('show', 'Sum up what a company spent.', ['cost show', 'cost show --from 2026-11-01'])).action(
      showAll,
    ),
    withDays(verb('by', 'Sum up the costs by something.', ['cost by agent', 'cost by issue --json']))
      .addArgument(new Argument('<what>').choices(Object.keys(BY)))
      .action(by),
  ])

async function showAll(options: Days): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const sum = await client.request('GET /api/companies/:companyId/costs/summary', {
    params: { companyId },
    query: { from: options.from, to: options.to },
  })
  show(options, sum, () =>
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
  )
}

async function by(what: Grouping, options: Days): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const { heading, load } = BY[what]
  const { rows, names } = await load(client, companyId, { from: options.from, to: options.to })
  show(options, rows, () => {
    const cells = rows.map((row, i) => [
      names[i]!,
      cost(row.costCents, row.unpricedEventCount > 0),
      String(row.inputTokens),
      String(row.cachedInputTokens),
      String(row.outputTokens),
    ])
    return table([[heading, 'Cost', 'Input', 'Cached', 'Output'], ...cells])
  })
}

/** Describes one grouping of costs. */
function report<const By extends Grouping>(by: By, heading: string, nameOf: (row: Row<By>) => string) {
  return {
    heading,
    async load(client: Client, companyId: string, query: { from?: string | undefined; to?: string | undefined }) {
      const name: `GET /api/companies/:companyId/costs/by-${Grouping}` = `GET /api/companies/:companyId/costs/by-${by}`
      const rows = await client.request(name, { params: { companyId }, query })
      return { rows, names: (rows as Row<By>[]).map(nameOf) }
    },
  }
}
