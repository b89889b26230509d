import type { ResponseOf } from '../client/types.ts'
import { watchStream } from '../connection/event-stream.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { choices, text, withDefault } from './command/flag.ts'
import { plain, words } from './command/output.ts'
import type { Scope } from './command/scope.ts'
import { verb } from './command/verb.ts'

type Issue = ResponseOf<'GET /api/issues/:issueId'>

const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled'] as const

export const waitCommand = () =>
  verb({
    name: 'wait',
    summary: 'Wait until an issue is done, or in another status.',
    args: ['<issue>'],
    flags: {
      until: withDefault(choices('--until <list>', STATUSES, 'the statuses to wait for, separated by commas'), 'done'),
      timeoutMs: {
        ...text('--timeout <time>', 'the maximum time, such as 30s, 10m or 2h (default: no limit)'),
        parse: millisecondsOf,
      },
    },
    examples: ['wait TER-1', 'wait TER-6 --until todo,in_review --timeout 10m && echo "Look at it."'],
    note: 'Exit codes: 0 the issue has the status, 7 it can no longer reach it (it is cancelled or done), 8 timeout.',
    async run(scope, [ref], { until, timeoutMs }) {
      const issue = await waitFor(scope, ref, until.split(','), timeoutMs)
      return { value: issue, text: () => `${issue.identifier} is ${words(issue.status)}: ${plain(issue.title)}` }
    },
  })

/**
 * Waits until an issue has one of the statuses.
 *
 * @throws CliError if the issue can no longer reach them, or on timeout
 */
async function waitFor({ client }: Scope, ref: string, until: string[], timeoutMs: number | undefined): Promise<Issue> {
  const load = () => client.request('GET /api/issues/:issueId', { params: { issueId: ref } })
  let issue = await load()
  const stopping = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stopping.abort(), timeoutMs)
  try {
    if (hasReached(issue, until)) return issue
    const stream = watchStream(client, `/api/companies/${issue.companyId}/events`, {
      signal: stopping.signal,
      isUp: true,
    })
    for await (const { type, data } of stream) {
      // After the stream opens or resumes incompletely, events may be missing, so the issue is read again.
      const mayConcern =
        type === 'open' || type === 'reset' || data?.entityId === issue.id || data?.issueId === issue.id
      if (!mayConcern) continue
      printProgress(issue, type)
      issue = (await ifReachable(load())) ?? issue
      if (hasReached(issue, until)) return issue
    }
  } finally {
    clearTimeout(timer)
    stopping.abort()
  }
  throw new CliError(EXIT.timeout, `${issue.identifier} is ${words(issue.status)} after ${timeoutMs! / 1_000} s.`)
}

/** Returns a response, or undefined if the server is unreachable. The stream reconnects when the server is back. */
async function ifReachable<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.unreachable) return undefined
    throw error
  }
}

function hasReached({ identifier, status }: Issue, until: readonly string[]): boolean {
  if (until.includes(status)) return true
  if (status !== 'done' && status !== 'cancelled') return false
  throw new CliError(EXIT.gated, `${identifier} is ${status}, so it will not be ${until.map(words).join(' or ')}.`)
}

/** Prints one line for each event of the issue, if there is a terminal. */
function printProgress(issue: Issue, type: string): void {
  if (!process.stderr.isTTY || !type.startsWith('issue.')) return
  const time = new Date().toTimeString().slice(0, 8)
  process.stderr.write(`${time}  ${words(type).replace('issue', issue.identifier)}\n`)
}

function millisecondsOf(given: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(given) ?? []
  if (count === undefined)
    throw new CliError(EXIT.usage, `--timeout must be a time such as 30s, 10m or 2h, not ${given}.`)
  return Number(count) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as 'ms' | 's' | 'm' | 'h']
}
