import { Command } from 'commander'
import type { ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { watchStream } from './event-stream.ts'
import { plain, print, printJson, words } from './output.ts'
import { clientOf, type Options } from './verb.ts'

interface WaitOptions extends Options {
  until: string
  timeout?: string
}

export const waitCommand = () =>
  withConnection(new Command('wait'))
    .description('Wait until an issue is done, or in another status.')
    .argument('<issue>')
    .option('--until <list>', 'the statuses to wait for, separated by commas', 'done')
    .option('--timeout <time>', 'how long at most, such as 30s, 10m or 2h (default: no limit)')
    .option('--json', 'print the issue as JSON at the end')
    .addHelpText(
      'after',
      `
Examples:
  $ service wait TER-6
  $ service wait TER-6 --until done,in_review --timeout 10m && echo "Look at it."

Exit codes: 0 it is there, 7 it can no longer get there (it is cancelled, or done), 8 it took too long.`,
    )
    .action(wait)

const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled']

type Issue = ResponseOf<'GET /api/issues/:issueId'>

async function wait(ref: string, options: WaitOptions): Promise<void> {
  const until = options.until.split(',').map((status) => status.trim())
  const unknown = until.filter((status) => !STATUSES.includes(status))
  if (unknown.length > 0) {
    throw new CliError(EXIT.usage, `--until takes ${STATUSES.join(', ')}, not ${unknown.join(', ')}.`)
  }
  const timeoutMs = options.timeout === undefined ? undefined : millisecondsOf(options.timeout)
  const client = clientOf(options)
  const issue = await untilThere(client, ref, until, timeoutMs)
  if (options.json) printJson(issue)
  else print(`${issue.identifier} is ${words(issue.status)}: ${plain(issue.title)}`)
}

/** @throws CliError when the issue can no longer get there, or the time is over */
async function untilThere(client: Client, ref: string, until: string[], timeoutMs: number | undefined): Promise<Issue> {
  const load = () => client.request('GET /api/issues/:issueId', { params: { issueId: ref } })
  let issue = await load()
  const stopping = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stopping.abort(), timeoutMs)
  try {
    if (isThere(issue, until)) return issue
    const stream = watchStream(client, `/api/companies/${issue.companyId}/events`, {
      signal: stopping.signal,
      isUp: true,
    })
    for await (const { type, data } of stream) {
      // Looked at whenever the stream opens, or begins anew: what happened before that was not told.
      const isNews = type === 'open' || type === 'reset' || data?.entityId === issue.id || data?.issueId === issue.id
      if (!isNews) continue
      tellProgress(issue, type)
      issue = (await ifUp(load())) ?? issue
      if (isThere(issue, until)) return issue
    }
  } finally {
    clearTimeout(timer)
    stopping.abort()
  }
  throw new CliError(EXIT.timeout, `${issue.identifier} is ${words(issue.status)} after ${timeoutMs! / 1_000} s.`)
}

/** What a server answers, or undefined when it is gone: its stream is, too, and opens again when it is back. */
async function ifUp<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.unreachable) return undefined
    throw error
  }
}

function isThere({ identifier, status }: Issue, until: readonly string[]): boolean {
  if (until.includes(status)) return true
  if (status !== 'done' && status !== 'cancelled') return false
  throw new CliError(EXIT.gated, `${identifier} is ${status}, so it will not be ${until.map(words).join(' or ')}.`)
}

/** On a terminal: what happens meanwhile, a line each. */
function tellProgress(issue: Issue, type: string): void {
  if (!process.stderr.isTTY || !type.startsWith('issue.')) return
  const time = new Date().toTimeString().slice(0, 8)
  process.stderr.write(`${time}  ${words(type).replace('issue', issue.identifier)}\n`)
}

function millisecondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? []
  if (count === undefined) throw new CliError(EXIT.usage, `--timeout is a time such as 30s, 10m or 2h, not ${text}.`)
  return Number(count) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as 'ms' | 's' | 'm' | 'h']
}
