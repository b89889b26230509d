import type { ResponseOf } from '../../client/types.ts'
import { placeOf } from '../../run-place.ts'
import { choices, LIMIT, reference, text, toggle } from '../command/flag.ts'
import { fields, localTime, plain, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, list, noun, verb, view } from '../command/verb.ts'
import { costOf, lastedOf, runColumnsWithIssue } from './run-columns.ts'
import { takeOverCommand } from './run-take-over.ts'

type Run = ResponseOf<'GET /api/runs/:runId'>

const STATUSES = ['starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost']

const theRun = async (scope: Scope, ref: string) => ({ runId: await scope.find('run', ref) })

const RAW = { raw: toggle('--raw', 'as the program wrote it') }

export const runCommand = () =>
  noun('run', 'Runs: executions of agents, one for each heartbeat.', [
    list({
      summary: 'List the runs, the latest first.',
      flags: {
        ...LIMIT,
        agentId: reference('agent', '-a, --agent <agent>'),
        issueId: text('-i, --issue <issue>'),
        status: choices('-s, --status <list>', STATUSES),
      },
      examples: ['run list', 'run list --agent Kit --status failed'],
      empty: ({ limit: _, ...filter }) =>
        Object.keys(filter).length > 0
          ? 'There are no such runs.'
          : 'There are no runs yet. Start one with `service agent invoke NAME`.',
      page: 'runs',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/runs', { params: await scope.inCompany(), query }),
      columns: runColumnsWithIssue,
    }),
    view({
      summary: 'Show a run, and how a person continues its session.',
      args: ['<run>'],
      examples: ['run view latest'],
      page: ({ id }) => `runs/${id}`,
      load: async (scope, [ref]) => scope.client.request('GET /api/runs/:runId', { params: await theRun(scope, ref) }),
      text: describe,
    }),
    verb({
      name: 'log',
      summary: 'Print the output of a run.',
      args: ['<run>'],
      flags: RAW,
      examples: ['run log latest', 'run log latest --raw'],
      run: async (scope, [ref], values) =>
        (await import('./run-output.ts')).printLog(scope, await theRun(scope, ref), values),
    }),
    verb({
      name: 'follow',
      summary: 'Print the output of a run live until it ends. The exit code is that of its outcome.',
      args: ['<run>'],
      flags: RAW,
      examples: ['run follow latest && echo succeeded'],
      note: 'Exit codes: 0 succeeded, 1 failed or lost, 7 cancelled, 8 over its time limit.',
      run: async (scope, [ref], values) =>
        (await import('./run-output.ts')).followRun(scope, await theRun(scope, ref), values),
    }),
    act({
      name: 'cancel',
      summary: 'Stop a run and all of its processes.',
      args: ['<run>'],
      examples: ['run cancel latest'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/runs/:runId/cancel', { params: await theRun(scope, ref) }),
      text: ({ finishedAt, status }) =>
        finishedAt === null ? 'The run is being stopped.' : `The run has ended already: ${words(status)}.`,
    }),
  ])

async function describe(run: Run, scope: Scope): Promise<string> {
  const { client } = scope
  const [nameOf, issue, takeOver] = await Promise.all([
    scope.agentNames(),
    run.issueId && client.request('GET /api/issues/:issueId', { params: { issueId: run.issueId } }),
    takeOverCommand(client, run),
  ])
  const { inputTokens, cachedInputTokens, outputTokens } = run.usage
  return fields([
    ['Run', run.id],
    ['Agent', nameOf(run.agentId)],
    ['Status', words(run.status)],
    ['Outcome', run.outcomeDetail ?? run.outcome],
    ['Retrying', run.retrying],
    ['Where', placeOf(run)],
    ['Error', run.error],
    ['Woken by', run.reasons.map((reason) => words(reason.source)).join(', ')],
    ['Issue', issue && `${issue.identifier} ${issue.title}`],
    ['Started', run.startedAt && localTime(run.startedAt)],
    ['Lasted', lastedOf(run)],
    ['Exit', run.signal ?? run.exitCode],
    ['Cost', costOf(run)],
    [
      'Tokens',
      inputTokens + outputTokens === 0 ? null : `${inputTokens} in, ${cachedInputTokens} cached, ${outputTokens} out`,
    ],
    ['Session', run.sessionIdAfter ?? run.sessionIdBefore],
    ['Take over', takeOver && plain(takeOver)],
    ['Said', run.summary],
  ])
}
