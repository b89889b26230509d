import { Command } from 'commander'
import type { ResponseOf } from '../client/types.ts'
import { withConnection } from '../connection/connect.ts'
import { cost, duration, localTime, oneLine, paint, words } from './output.ts'
import { clientOf, type Options, show } from './verb.ts'

type Why = ResponseOf<'GET /api/issues/:issueId/why'>
type Step = Why['steps'][number]

export const whyCommand = () =>
  withConnection(new Command('why'))
    .description('Show what happened on an issue and what caused it.')
    .argument('<issue>')
    .option('-n, --limit <count>', 'the maximum number of steps', '200')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service why TER-6\n  $ service why TER-6 --json --limit 1000')
    .action(why)

async function why(ref: string, options: Options & { limit: string }): Promise<void> {
  const story = await clientOf(options).request('GET /api/issues/:issueId/why', {
    params: { issueId: ref },
    query: { limit: options.limit },
  })
  show(options, story, () => describe(story))
}

/** Formats a story: each day once, then one line per step, indented below its cause. */
function describe({ issue, steps, runCount, costCents, costStatus, notes, isCut }: Why): string {
  const head = `${paint('strong', issue.identifier)} ${oneLine(issue.title)}: ${words(issue.status)}, ${count(runCount, 'run')}, ${cost(costCents, costStatus === 'unpriced')}`
  let day = ''
  const lines = steps.flatMap((step) => {
    const [date, time] = localTime(step.at).split(' ') as [string, string]
    const line = `${paint('quiet', time)}  ${'  '.repeat(step.depth)}${textOf(step)}`
    if (date === day) return [line]
    day = date
    return [paint('quiet', date), line]
  })
  const more = isCut ? ['', 'There are more steps: raise --limit.'] : []
  return [head, ...notes.map((note) => paint('quiet', note)), '', ...lines, ...more].join('\n')
}

function textOf({ kind, text, at, endedAt, status, costCents, costStatus }: Step): string {
  const line = oneLine(text)
  if (kind !== 'run') return kind === 'wake' ? paint('waiting', line) : line
  const isUnpriced = costStatus === 'unpriced'
  const spent = costCents || isUnpriced ? `, ${cost(costCents ?? 0, isUnpriced)}` : ''
  const figures = endedAt === null ? spent : `, ${duration(Date.parse(endedAt) - Date.parse(at))}${spent}`
  const isBad = status === 'failed' || status === 'lost' || status === 'timed_out'
  return `${isBad ? paint('bad', line) : line}${paint('quiet', figures)}`
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
