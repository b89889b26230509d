import { Argument } from 'commander'
import { inCompany } from './find.ts'
import { cost, fields, money, table } from './output.ts'
import { list, noun, type Options, show, verb } from './verb.ts'

interface Days extends Options {
  from?: string
  to?: string
}

// biome-ignore lint/suspicious/noExplicitAny: figures as the API shows them.
type Figures = any

const withDays = (command: ReturnType<typeof verb>) =>
  command
    .option('--from <day>', 'the first UTC day (default: the first of this month)')
    .option('--to <day>', 'the last UTC day (default: today)')

/** What costs can be summed up by: its name, and the cells that name a row. */
const BY: Record<string, { heading: string; nameOf: (row: Figures) => string }> = {
  agent: { heading: 'Agent', nameOf: (row) => row.agentName ?? 'The company itself' },
  project: { heading: 'Project', nameOf: (row) => row.projectName ?? 'No project' },
  issue: { heading: 'Issue', nameOf: (row) => (row.identifier ? `${row.identifier} ${row.title}` : 'No issue') },
  model: { heading: 'Model', nameOf: (row) => `${row.provider}/${row.model}` },
  day: { heading: 'Day', nameOf: (row) => row.date },
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
  const { client, path } = await inCompany(options)
  const query = new URLSearchParams({
    ...(options.from && { from: options.from }),
    ...(options.to && { to: options.to }),
  })
  const sum: Figures = await client.request('GET', `${path}/costs/summary?${query}`)
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

async function by(what: string, options: Days): Promise<void> {
  const { client, path } = await inCompany(options)
  const rows: Figures[] = await list(client, `${path}/costs/by-${what}`, { from: options.from, to: options.to })
  const { heading, nameOf } = BY[what]!
  show(options, rows, () => {
    const cells = rows.map((row) => [
      nameOf(row),
      cost(row.costCents, row.unpricedEventCount > 0),
      String(row.inputTokens),
      String(row.cachedInputTokens),
      String(row.outputTokens),
    ])
    return table([[heading, 'Cost', 'Input', 'Cached', 'Output'], ...cells])
  })
}
