import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { readConfig } from '../../platform/config.ts'
import { type Client, createClient } from '../connection/client.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import type { Snapshot } from '../demo/follow.ts'
import type { Step } from '../demo/steps.ts'
import { money, paint, print, table } from './command/output.ts'
import type { RunServer } from './server-process.ts'

interface DemoOptions {
  port?: string
  dataDir?: string
  keep?: boolean
  exit?: boolean
  json?: boolean
}

/** The time limit of the demo, in milliseconds. A small machine needs a quarter of it. */
const GIVE_UP_MS = 60_000

/** @param loadServer loads the function that starts the server in this process */
export const demoCommand = (loadServer: () => Promise<RunServer>) =>
  new Command('demo')
    .description(
      'Run a demo company of five agents. It needs no model and no network, and deletes its data at the end.',
    )
    .option('-p, --port <port>', 'the port')
    .option('--data-dir <folder>', 'store the data there, or continue the demo that is stored there')
    .option('--keep', 'keep the data directory at the end')
    .option('--exit', 'exit after the summary')
    .option('--json', 'print each step as one line of JSON')
    .addHelpText('after', '\nExamples:\n  $ service demo\n  $ service demo --exit --json\n  $ service demo --keep')
    .action((options: DemoOptions) => demo(options, loadServer))

async function demo(options: DemoOptions, loadServer: () => Promise<RunServer>): Promise<void> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'service-demo-'))
  try {
    await runDemo(options, dataDir, loadServer)
  } finally {
    if (options.dataDir === undefined && !options.keep) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function runDemo(options: DemoOptions, dataDir: string, loadServer: () => Promise<RunServer>): Promise<void> {
  const begun = Date.now()
  const flags = { dataDir, mode: 'local_trusted', ...(options.port !== undefined && { port: options.port }) }
  const config = readConfig(flags, process.env)
  const [runServer, { seedDemoCompany }, { COMPANY, ISSUE_COUNT }, { followCompany, isDone }] = await Promise.all([
    loadServer(),
    import('../demo/seed.ts'),
    import('../demo/company.ts'),
    import('../demo/follow.ts'),
  ])
  const server = await runServer(config, { keepRuns: false })
  const { url, ctx } = server
  const client = createClient({ url })
  const printStep = options.json ? printLine : createStepPrinter(begun)
  const onStep = (step: Step, spendCents: number) => {
    // A continued demo does not print its earlier steps again.
    if (Date.parse(step.at) >= begun) printStep(step, spendCents)
  }
  if (!options.json) print(`${paint('strong', COMPANY.name)} is at work at ${paint('busy', url)}. Ctrl-C stops it.\n`)

  const work = async (): Promise<Snapshot> => {
    const company =
      (await seedDemoCompany({ url, dataDir: config.dataDir })) ?? (await findCompany(client, COMPANY.name))
    const deadline = Date.now() + GIVE_UP_MS
    const follow = {
      client,
      events: ctx.events,
      companyId: company.id,
      issueCount: ISSUE_COUNT,
      deadline,
      onStep,
    }
    return followCompany(follow)
  }
  const snapshot = await server.during(work)
  if (!snapshot) {
    if (options.exit) throw new CliError(EXIT.failure, 'The demo was stopped before all issues were done.')
    return
  }
  const elapsedMs = Date.now() - begun
  const summary = await summarize(client, snapshot, elapsedMs)
  const done = isDone(snapshot, ISSUE_COUNT)
  if (options.json) print(JSON.stringify({ type: 'summary', url, done, ...summary }))
  else print(describe(summary, url, options))

  if (options.exit) server.stop()
  await server.ended
  if (!done) throw new CliError(EXIT.timeout, `Not all issues were done within ${GIVE_UP_MS / 1_000} s.`)
}

async function findCompany(client: Client, name: string): Promise<{ id: string }> {
  const companies: { id: string; name: string }[] = await client.request('GET /api/companies')
  const company = companies.find((one) => one.name === name)
  if (!company)
    throw new CliError(
      EXIT.conflict,
      'This data directory contains companies, but not the demo company. Choose another with --data-dir.',
    )
  return company
}

function printLine(step: Step, spendCents: number): void {
  print(JSON.stringify({ type: 'step', ...step, spendCents }))
}

const PAINT_OF: Partial<Record<Step['kind'], Parameters<typeof paint>[0]>> = {
  wakes: 'quiet',
  takes: 'busy',
  waits: 'waiting',
  asks: 'waiting',
  approves: 'good',
  finishes: 'good',
  fails: 'bad',
}

/** Creates a function that prints a step as an aligned line: time, spend so far, agent, action. */
function createStepPrinter(begun: number) {
  return (step: Step, spendCents: number): void => {
    const elapsed = ((Date.parse(step.at) - begun) / 1_000).toFixed(1)
    const meaning = PAINT_OF[step.kind]
    const verb = step.kind.padEnd(9)
    const line = `${step.who.padEnd(6)} ${meaning ? paint(meaning, verb) : verb} ${step.text}`
    print(`${paint('quiet', `${elapsed.padStart(6)}s ${money(spendCents).padStart(6)}`)}  ${line}`)
  }
}

interface Summary {
  issues: { total: number; done: number }
  runs: { total: number; failed: number }
  comments: number
  costCents: number
  elapsedMs: number
  agents: { name: string; role: string; runs: number; issuesDone: number; comments: number; costCents: number }[]
}

async function summarize(client: Client, { team, issues, runs, spendCents }: Snapshot, elapsedMs: number) {
  const threads = issues.map(({ id }) =>
    client.request('GET /api/issues/:issueId/comments', { params: { issueId: id } }),
  )
  const comments = (await Promise.all(threads)).flat()
  const isDone = (issue: Snapshot['issues'][number]) => issue.status === 'done'
  const summary: Summary = {
    issues: { total: issues.length, done: issues.filter(isDone).length },
    runs: {
      total: runs.length,
      failed: runs.filter((run) => ['failed', 'lost', 'timed_out'].includes(run.status)).length,
    },
    comments: comments.length,
    costCents: spendCents,
    elapsedMs,
    agents: [...team].map(([id, { name, role }]) => {
      const own = runs.filter((run) => run.agentId === id)
      return {
        name,
        role,
        runs: own.length,
        issuesDone: issues.filter((issue) => isDone(issue) && issue.assigneeAgentId === id).length,
        comments: comments.filter((comment) => comment.authorAgentId === id).length,
        costCents: own.reduce((sum, run) => sum + run.costCents, 0),
      }
    }),
  }
  return summary
}

function describe(summary: Summary, url: string, options: DemoOptions): string {
  const { issues, runs, comments, costCents, elapsedMs, agents } = summary
  const rows = agents.map((agent) => [
    agent.name,
    agent.role,
    String(agent.runs),
    String(agent.issuesDone),
    String(agent.comments),
    money(agent.costCents),
  ])
  const total = ['All', '', String(runs.total), `${issues.done} of ${issues.total}`, String(comments), money(costCents)]
  const lines = ['', table([['Agent', 'Role', 'Runs', 'Issues done', 'Comments', 'Cost'], ...rows, total])]
  lines.push('', `${issues.done} of ${issues.total} issues done in ${(elapsedMs / 1_000).toFixed(1)} s.`)
  if (!options.exit) {
    lines.push('The server runs until Ctrl-C. Explore it at:')
    lines.push(`  ${url}               the board: issues, runs, costs`)
    lines.push(`  ${url}/api/docs      the documentation`)
    lines.push(`  curl ${url}/api/issues/TER-1`)
  }
  return lines.join('\n')
}
