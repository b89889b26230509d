/**
 * Measures the requests per second of each scenario, relative to a bare node:http
 * server that sends a constant JSON of the same size, in one run on the same
 * machine. Also prints the CPU time of a request, and the CPU time that the
 * same SQL statements take on bare better-sqlite3.
 *
 * `node bench/http.ts [name] [--issues=1000,10000,100000]`: `name` selects the
 * scenarios whose name contains it. Runs everything, then exits 1 if a share is
 * under its goal at 10,000 issues, or if a rate falls by more than a third from
 * 1,000 to 100,000 issues.
 */
import { parseArgs } from 'node:util'
import { measure } from './load.ts'
import { type ServerProcess, serve, withFolder } from './process.ts'
import { measureRound } from './round.ts'
import { requestOf, SCENARIOS, type Scenario } from './scenarios.ts'
import { type Seeded, seed } from './seed.ts'
import { cpuOfStatements } from './statements.ts'

/** The size at which the goals apply. */
const GOAL_ISSUES = 10_000
const LEAST_SHARE_LEFT = 2 / 3
/** The service and the bare server in turn, so that other work of the machine affects both; the median share counts. */
const ROUNDS = 3

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { issues: { type: 'string', default: '1000,10000,100000' } },
})
const chosen = SCENARIOS.filter(({ name }) => name.includes(positionals[0] ?? ''))
const sizes = values.issues.split(',').map(Number)

const print = (line: string) => process.stdout.write(`${line}\n`)
const columns = ['issues', 'bare/s', 'service/s', 'share', 'goal', 'CPU µs', 'SQL µs']
print(`${'scenario'.padEnd(30)}${columns.map((name) => name.padStart(10)).join('')}`)

const rates = new Map<string, number>()
for (const issues of sizes) {
  await withFolder(async (dataDir) => {
    const seeded = seed(dataDir, issues)
    const sqlMicros = new Map<Scenario, number>()
    for (const scenario of chosen) sqlMicros.set(scenario, await cpuOfStatements(scenario, seeded, dataDir))
    const service = await serve('service', dataDir)
    for (const scenario of chosen) await run(scenario, seeded, service, sqlMicros.get(scenario)!)
    await service.stop()
  })
}
for (const { name } of chosen) {
  const [small, large] = [rates.get(`${name} 1000`), rates.get(`${name} 100000`)]
  if (small === undefined || large === undefined || large >= small * LEAST_SHARE_LEFT) continue
  print(`${name}: only ${((large / small) * 100).toFixed(0)} % of the rate at 1,000 issues is left at 100,000  MISSED`)
  process.exitCode = 1
}

async function run(scenario: Scenario, seeded: Seeded, service: ServerProcess, sqlMicros: number): Promise<void> {
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
  for (let round = 0; round < ROUNDS; round++) {
    const bareRate = await measure(bare.port, bareLoad, theirs)
    const { rate, micros } = await ours(requests)
    rounds.push({ bare: bareRate, ours: rate, micros })
  }
  const micros = rounds.reduce((sum, round) => sum + round.micros, 0) / ROUNDS
  await bare.stop()
  const median = rounds.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare)[Math.floor(ROUNDS / 2)]!
  const share = median.ours / median.bare
  rates.set(`${scenario.name} ${issues}`, median.ours)
  const isMissed = issues === GOAL_ISSUES && share < scenario.goal
  if (isMissed) process.exitCode = 1
  const figures = [issues, median.bare.toFixed(0), median.ours.toFixed(0), share.toFixed(3), scenario.goal.toFixed(2)]
  const all = [...figures, micros.toFixed(0), sqlMicros.toFixed(0)]
  print(
    `${scenario.name.padEnd(30)}${all.map((figure) => String(figure).padStart(10)).join('')}${isMissed ? '  MISSED' : ''}`,
  )
}

/** Returns how many bytes a response has, so that the bare server sends as many. */
async function responseSize(port: number, request: string): Promise<number> {
  const [head = '', body] = request.split('\r\n\r\n')
  const [method = '', target = ''] = head.split(' ')
  const init = body ? { body, headers: { 'content-type': 'application/json' } } : {}
  const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, ...init })
  return (await response.arrayBuffer()).byteLength
}
