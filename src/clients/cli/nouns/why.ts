import type { ResponseOf } from '../../client/types.ts'
import { text, withDefault } from '../command/flag.ts'
import { cost, duration, localTime, oneLine, paint, withLocalTimes, words } from '../command/output.ts'
import { view } from '../command/verb.ts'

type Why = ResponseOf<'GET /api/issues/:issueId/why'>
type Step = Why['steps'][number]

export const whyCommand = () =>
  view({
    name: 'why',
    summary: 'Show what happened on an issue, what caused it, and what it waits for.',
    args: ['<issue>'],
    flags: { limit: withDefault(text('-n, --limit <count>', 'the maximum number of steps'), '200') },
    examples: ['why TER-6', 'why TER-6 --json --limit 1000'],
    page: ({ issue }) => `issues/${issue.identifier}`,
    load: ({ client }, [issueId], query) =>
      client.request('GET /api/issues/:issueId/why', { params: { issueId }, query }),
    text: describe,
  })

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

function textOf({ kind, text: sentence, at, endedAt, status, costCents, costStatus }: Step): string {
  const line = oneLine(withLocalTimes(sentence))
  if (kind !== 'run') return kind === 'wake' ? paint('waiting', line) : line
  const isUnpriced = costStatus === 'unpriced'
  const spent = costCents || isUnpriced ? `, ${cost(costCents ?? 0, isUnpriced)}` : ''
  const figures = endedAt === null ? spent : `, ${duration(Date.parse(endedAt) - Date.parse(at))}${spent}`
  const isBad = status === 'failed' || status === 'lost' || status === 'timed_out'
  return `${isBad ? paint('bad', line) : line}${paint('quiet', figures)}`
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
