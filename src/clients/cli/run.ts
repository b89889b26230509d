import type { ItemOf, ResponseOf } from '../client/types.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { ago, cost, duration, fields, localTime, plain, shortId, table, words } from './output.ts'
import { clientOf, list, mapDefined, noun, type Options, show, verb, withLimit } from './verb.ts'

type Run = ItemOf<'GET /api/companies/:companyId/runs'>
type Usage = ResponseOf<'GET /api/runs/:runId'>['usage']

export const runCommand = () =>
  noun('run', 'Runs: what agents did, one heartbeat each.', [
    withLimit(verb('list', 'List the runs, the latest first.', ['run list', 'run list --agent Kit --status failed']))
      .option('-a, --agent <agent>')
      .option('-i, --issue <issue>')
      .option('-s, --status <list>', 'only these, separated by commas')
      .action(listAll),
    verb('show', 'Show a run.', ['run show 1f3b5d7e']).argument('<run>', 'its id').action(showOne),
    verb('log', 'Print the output of a run.', ['run log 1f3b5d7e']).argument('<run>', 'its id').action(log),
    verb('cancel', 'Stop a run and everything it started.', ['run cancel 1f3b5d7e'])
      .argument('<run>', 'its id')
      .action(cancel),
    verb('follow', 'Print the output of a run live until it ends. The exit code says how it ended.', [
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
  const { client, companyId } = await inCompany(options)
  const { agent, issue, status, limit } = options
  const agentId = await mapDefined(agent, (name) => findId(options, 'agent', name))
  const runs = await list(client, 'GET /api/companies/:companyId/runs', {
    params: { companyId },
    query: { agentId, issueId: issue, status, limit },
  })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
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

const lastedOf = ({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): string =>
  startedAt === null
    ? ''
    : duration((finishedAt === null ? Date.now() : Date.parse(finishedAt)) - Date.parse(startedAt))

const costOf = (run: Pick<Run, 'costStatus' | 'costCents'>): string =>
  run.costStatus === 'none' ? '' : cost(run.costCents, run.costStatus === 'unpriced')

async function showOne(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const runId = await findId(options, 'run', ref)
  const run = await client.request('GET /api/runs/:runId', { params: { runId } })
  if (options.json) return show(options, run, () => '')
  const nameOf = await agentNames(client, run.companyId)
  const issue = run.issueId && (await client.request('GET /api/issues/:issueId', { params: { issueId: run.issueId } }))
  show(options, run, () =>
    fields([
      ['Run', run.id],
      ['Agent', nameOf(run.agentId)],
      ['Status', words(run.status)],
      ['Error', run.error],
      ['Woken by', run.reasons.map((reason) => words(reason.source)).join(', ')],
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

const tokensOf = ({ inputTokens, cachedInputTokens, outputTokens }: Usage) =>
  inputTokens + outputTokens === 0 ? null : `${inputTokens} in, ${cachedInputTokens} cached, ${outputTokens} out`

async function log(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const runId = await findId(options, 'run', ref)
  for (let offset = 0; ; ) {
    const part = await client.request('GET /api/runs/:runId/log', { params: { runId }, query: { offset } })
    if (options.json) process.stdout.write(`${JSON.stringify(part)}\n`)
    else process.stdout.write(process.stdout.isTTY ? plain(part.text) : part.text)
    if (part.isComplete || part.nextOffset === offset) return
    offset = part.nextOffset
  }
}

async function cancel(ref: string, options: Options): Promise<void> {
  const runId = await findId(options, 'run', ref)
  const run = await clientOf(options).request('POST /api/runs/:runId/cancel', { params: { runId } })
  const isLive = run.finishedAt === null
  show(options, run, () => (isLive ? 'The run is being stopped.' : `The run has ended already: ${words(run.status)}.`))
}
