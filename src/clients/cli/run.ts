import { agentNames, findByShortId, findId, inCompany } from './find.ts'
import { ago, cost, duration, fields, localTime, plain, shortId, table, words } from './output.ts'
import { clientOf, list, noun, type Options, show, verb, withLimit } from './verb.ts'

// biome-ignore lint/suspicious/noExplicitAny: a run as the API shows it.
type Run = any

export const runCommand = () =>
  noun('run', 'Runs: what agents did, one heartbeat each.', [
    withLimit(verb('list', 'List the runs, the latest first.', ['run list', 'run list --agent Kit --status failed']))
      .option('-a, --agent <agent>')
      .option('-i, --issue <issue>')
      .option('-s, --status <list>', 'only these, separated by commas')
      .action(listAll),
    verb('show', 'Show a run.', ['run show 1f3b5d7e']).argument('<run>', 'its id').action(showOne),
    verb('log', 'Print what a run wrote.', ['run log 1f3b5d7e']).argument('<run>', 'its id').action(log),
    verb('cancel', 'Stop a run and everything it started.', ['run cancel 1f3b5d7e'])
      .argument('<run>', 'its id')
      .action(cancel),
    verb('follow', 'Print what a run writes until it ends; the exit code tells how it ended.', [
      'run follow 1f3b5d7e && echo succeeded',
    ])
      .argument('<run>', 'its id')
      .addHelpText('after', '\nExit codes: 0 succeeded, 1 failed or lost, 7 cancelled, 8 over its time limit.')
      .action(async (ref, options) => (await import('./follow.ts')).followRun(ref, options)),
  ])

interface Filter extends Options {
  agent?: string
  issue?: string
  status?: string
  limit: string
}

async function listAll(options: Filter): Promise<void> {
  const { client, path } = await inCompany(options)
  const { agent, issue, status, limit } = options
  const agentId = agent && (await findId(options, 'agent', agent))
  const runs: Run[] = await list(client, `${path}/runs`, { agentId, issueId: issue, status, limit })
  const nameOf = options.json ? () => '' : await agentNames(client, path)
  show(options, runs, () => {
    const rows = runs.map((run) => [
      shortId(run.id),
      nameOf(run.agentId),
      words(run.status),
      words(run.wakeReason),
      ago(run.createdAt),
      lastedOf(run),
      costOf(run),
      run.error ?? '',
    ])
    return table([['Id', 'Agent', 'Status', 'Reason', 'Age', 'Lasted', 'Cost', 'Error'], ...rows])
  })
}

const lastedOf = ({ startedAt, finishedAt }: Run): string =>
  startedAt === null
    ? ''
    : duration((finishedAt === null ? Date.now() : Date.parse(finishedAt)) - Date.parse(startedAt))

const costOf = (run: Run): string =>
  run.costStatus === 'none' ? '' : cost(run.costCents, run.costStatus === 'unpriced')

async function showOne(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const run: Run = await client.request('GET', `/api/runs/${await findByShortId(options, 'runs', ref)}`)
  if (options.json) return show(options, run, () => '')
  const nameOf = await agentNames(client, `/api/companies/${run.companyId}`)
  const issue = run.issueId && (await client.request('GET', `/api/issues/${run.issueId}`))
  show(options, run, () =>
    fields([
      ['Run', run.id],
      ['Agent', nameOf(run.agentId)],
      ['Status', words(run.status)],
      ['Error', run.error],
      ['Woken by', run.reasons.map((reason: Run) => words(reason.source)).join(', ')],
      ['Issue', issue && `${issue.identifier} ${issue.title}`],
      ['Started', run.startedAt && localTime(run.startedAt)],
      ['Lasted', lastedOf(run)],
      ['Exit', run.signal ?? run.exitCode],
      ['Cost', costOf(run)],
      ['Tokens', tokensOf(run.usage)],
      ['Session', run.sessionIdAfter ?? run.sessionIdBefore],
      ['Said', run.summary],
    ]),
  )
}

const tokensOf = ({ inputTokens, cachedInputTokens, outputTokens }: Run) =>
  inputTokens + outputTokens === 0 ? null : `${inputTokens} in, ${cachedInputTokens} cached, ${outputTokens} out`

async function log(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const path = `/api/runs/${await findByShortId(options, 'runs', ref)}/log`
  for (let offset = 0; ; ) {
    const part = await client.request('GET', `${path}?offset=${offset}`)
    if (options.json) process.stdout.write(`${JSON.stringify(part)}\n`)
    else process.stdout.write(process.stdout.isTTY ? plain(part.text) : part.text)
    if (part.isComplete || part.nextOffset === offset) return
    offset = part.nextOffset
  }
}

async function cancel(ref: string, options: Options): Promise<void> {
  const id = await findByShortId(options, 'runs', ref)
  const run: Run = await clientOf(options).request('POST', `/api/runs/${id}/cancel`)
  const isLive = run.finishedAt === null
  show(options, run, () => (isLive ? 'The run is being stopped.' : `The run has ended already: ${words(run.status)}.`))
}
