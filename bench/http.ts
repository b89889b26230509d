/**
 * Measures the requests per second of each scenario, relative to a bare node:http
 * server that sends a constant JSON of the same size, in one run on the same
 * machine. Also prints the CPU time of a request, and the CPU time that the
 * same SQL statements take on bare better-sqlite3. The limit is the share of a
 * server that would do nothing but what the bare one does and these statements,
 * in one thread: the faster the bare server runs, the lower it is. For writes,
 * prints how long the disk takes to sync a commit: 16 clients wait for it
 * together, so a slow disk limits their rate, whatever the server does.
 *
 * `node bench/http.ts [name] [--issues=1000,10000,100000]`: `name` selects the
 * scenarios whose name contains it. Runs everything, then exits 1 if a share is
 * under its goal at 10,000 issues, if a response takes longer than its limit at
 * 100,000 issues (at the 99th percentile), or if a share falls by more than a
 * third from the smallest number of issues.
 */
import { parseArgs } from 'node:util'
import { measureSync } from './disk.ts'
import { measure } from './load.ts'
import { type ServerProcess, serve } from './process.ts'
import { measureRound } from './round.ts'
import { requestOf, SCENARIOS, type Scenario } from './scenarios.ts'
import type { Seeded } from './seed.ts'
import { measureAtSizes, SIZES } from './sizes.ts'
import { cpuOfStatements } from './statements.ts'

/** The size at which the goals apply. */
const GOAL_ISSUES = 10_000
/** The size at which the limits of the time apply. */
const LIMIT_ISSUES = 100_000
/** The service and the bare server in turn, so that other work of the machine affects both; the median share counts. */
const ROUNDS = 3

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { issues: { type: 'string', default: SIZES } },
})
const chosen = SCENARIOS.filter(({ name }) => name.includes(positionals[0] ?? ''))

const print = (line: string) => process.stdout.write(`${line}\n`)
const columns = ['issues', 'bare/s', 'service/s', 'share', 'limit', 'goal', 'p99 ms', 'CPU µs', 'SQL µs', 'sync ms']
print(`${'scenario'.padEnd(30)}${columns.map((name) => name.padStart(10)).join('')}`)

await measureAtSizes(values.issues, async (dataDir, seeded) => {
  const sqlMicros = new Map<Scenario, number>()
  for (const scenario of chosen) sqlMicros.set(scenario, await cpuOfStatements(scenario, seeded, dataDir))
  const service = await serve('service', dataDir)
  const rates = new Map<string, number>()
  for (const scenario of chosen)
    rates.set(scenario.name, await run(scenario, { seeded, dataDir, service, sqlMicros: sqlMicros.get(scenario)! }))
  await service.stop()
  return rates
})

interface Setting {
  seeded: Seeded
  dataDir: string
  service: ServerProcess
  sqlMicros: number
}

/** Measures a scenario and prints the figures. @returns its share, because the speed of the machine changes between the sizes */
async function run(scenario: Scenario, { seeded, dataDir, service, sqlMicros }: Setting): Promise<number> {
  const issues = seeded.issueIds.length
  const requests = scenario.undo ? Math.min(scenario.requests, issues) : scenario.requests
  let sent = 0
  const ours = (count: number) => {
    const from = sent
    sent += count
    return measureRound({ scenario, seeded, server: service, from, requests: count })
  }
  const size = await responseSize(service.port, requestOf(scenario, seeded, service.port, sent++))
  const bare = await serve('bare', String(size))
  const theirs = (n: number) => requestOf(scenario, seeded, bare.port, n % issues)
  const bareLoad = { clients: scenario.clients, requests: scenario.clients === 1 ? 1_500 : 6_000 }
  await measure(bare.port, { ...bareLoad, requests: 500 }, theirs)
  await ours(Math.ceil(requests / 2))
  const rounds: { bare: number; ours: number; micros: number }[] = []
  const times: number[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const bareRound = await measure(bare.port, bareLoad, theirs)
    const round = await ours(requests)
    rounds.push({ bare: bareRound.rate, ours: round.rate, micros: round.micros })
    times.push(...round.times)
  }
  const micros = rounds.reduce((sum, round) => sum + round.micros, 0) / ROUNDS
  await bare.stop()
  const median = rounds.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare)[Math.floor(ROUNDS / 2)]!
  const share = median.ours / median.bare
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  const isSlow = issues >= LIMIT_ISSUES && p99 > (scenario.limitMs ?? Number.POSITIVE_INFINITY)
  const isMissed = isSlow || (issues === GOAL_ISSUES && share < scenario.goal)
  if (isMissed) process.exitCode = 1
  const limit = 1 / (1 + (sqlMicros * median.bare) / 1e6)
  const shares = [share.toFixed(3), limit.toFixed(3), scenario.goal.toFixed(2)]
  const figures = [issues, median.bare.toFixed(0), median.ours.toFixed(0), ...shares]
  const sync = scenario.method === 'POST' ? measureSync(dataDir).toFixed(2) : ''
  const all = [...figures, p99.toFixed(1), micros.toFixed(0), sqlMicros.toFixed(0), sync]
  print(
    `${scenario.name.padEnd(30)}${all.map((figure) => String(figure).padStart(10)).join('')}${isMissed ? '  MISSED' : ''}`,
  )
  return share
}

/** Returns how many bytes a response has, so that the bare server sends as many. */
async function responseSize(port: number, request: string): Promise<number> {
  const [head = '', body] = request.split('\r\n\r\n')
  const [method = '', target = ''] = head.split(' ')
  const init = body ? { body, headers: { 'content-type': 'application/json' } } : {}
  const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, ...init })
  return (await response.arrayBuffer()).byteLength
}
