/**
 * How many requests a second, beside a bare node:http server that answers a
 * constant JSON of the same size, in one run on the same machine: what counts
 * is the ratio. Exits 1 when a ratio is under its goal. An argument limits it to
 * the scenarios whose name has it.
 */
import { measure } from './load.ts'
import { serve, withFolder } from './process.ts'
import { type Seeded, seed } from './seed.ts'

interface Scenario {
  name: string
  /** As the OpenAPI document has it; a scenario whose path is not there is left out, and said to be. */
  path: string
  method: 'GET' | 'POST'
  /** The least share of the bare server's requests a second. */
  goal: number
  target(seeded: Seeded, n: number): string
  body?(seeded: Seeded, n: number): unknown
}

const SCENARIOS: Scenario[] = [
  {
    name: 'read one issue',
    path: '/api/issues/{issueId}',
    method: 'GET',
    goal: 0.35,
    target: ({ issueIds }, n) => `/api/issues/${issueIds[(n * 7919) % issueIds.length]}`,
  },
  {
    name: 'check an issue out, durably',
    path: '/api/issues/{issueId}/checkout',
    method: 'POST',
    goal: 0.12,
    target: ({ issueIds }, n) => `/api/issues/${issueIds[n]}/checkout`,
    body: ({ agentId }) => ({ agentId, expectedStatuses: ['todo'] }),
  },
  {
    name: 'comment on an issue, durably',
    path: '/api/issues/{issueId}/comments',
    method: 'POST',
    goal: 0.12,
    target: ({ issueIds }, n) => `/api/issues/${issueIds[n]}/comments`,
    body: (_, n) => ({ body: `Comment ${n}: this is what I found, and what I will do next.` }),
  },
]

const ISSUES = 10_000
const CLIENTS = 16
/** Ours and the bare one in turn, so that whatever else the machine does meets both; the median ratio counts. */
const ROUNDS = 5
/** In each round; a checkout takes an issue that is still free, so all rounds together are under ISSUES. */
const REQUESTS = { GET: 8_000, POST: 1_800 }
const WARM_UP = 500

const print = (line: string) => process.stdout.write(`${line}\n`)

await withFolder(async (dataDir) => {
  const seeded = seed(dataDir, ISSUES)
  const service = await serve('service', dataDir)
  const document = await (await fetch(`http://127.0.0.1:${service.port}/api/openapi.json`)).json()
  const { paths } = document as { paths: Record<string, object> }
  print(
    `${'what'.padEnd(32)}${'bare/s'.padStart(9)}${'service/s'.padStart(11)}${'ratio'.padStart(8)}${'goal'.padStart(7)}`,
  )
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(process.argv[2] ?? ''))) {
    if (paths[scenario.path]) await run(scenario, seeded, service.port)
    else print(`${scenario.name.padEnd(32)}left out: there is no ${scenario.path}`)
  }
  await service.stop()
})

async function run(scenario: Scenario, seeded: Seeded, port: number): Promise<void> {
  const { name, method, goal } = scenario
  let asked = 0
  const ours = () => requestOf(scenario, seeded, port, asked++)
  const size = await answerSize(port, ours())
  const bare = await serve('bare', String(size))
  const theirs = (n: number) => requestOf(scenario, seeded, bare.port, n % ISSUES)
  const load = { clients: CLIENTS, requests: REQUESTS[method] }
  const warmUp = { clients: CLIENTS, requests: WARM_UP }
  await measure(bare.port, warmUp, theirs)
  await measure(port, warmUp, ours)
  const rates: { bare: number; ours: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rates.push({ bare: await measure(bare.port, load, theirs), ours: await measure(port, load, ours) })
  }
  await bare.stop()
  const rate = rates.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare)[Math.floor(ROUNDS / 2)]!
  const ratio = rate.ours / rate.bare
  const met = ratio >= goal
  if (!met) process.exitCode = 1
  const figures = [rate.bare.toFixed(0).padStart(9), rate.ours.toFixed(0).padStart(11), ratio.toFixed(2).padStart(8)]
  print(`${name.padEnd(32)}${figures.join('')}${goal.toFixed(2).padStart(7)}  ${met ? 'met' : 'MISSED'}`)
}

function requestOf({ method, target, body }: Scenario, seeded: Seeded, port: number, n: number): string {
  const head = `${method} ${target(seeded, n)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  if (!body) return `${head}\r\n`
  const text = JSON.stringify(body(seeded, n))
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** How many bytes one answer has, so that the bare server sends as many. */
async function answerSize(port: number, request: string): Promise<number> {
  const [head = '', body] = request.split('\r\n\r\n')
  const [method = '', target = ''] = head.split(' ')
  const init = body ? { body, headers: { 'content-type': 'application/json' } } : {}
  const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, ...init })
  return (await response.arrayBuffer()).byteLength
}
