import { type Seeded, wordAt } from './seed.ts'

/** A repeated request, with its goals. */
export interface Scenario {
  name: string
  method: 'GET' | 'POST'
  clients: number
  /** The number of requests in a round, for about half a second. */
  requests: number
  /** The minimum share of the bare server's rate, at 10,000 issues. */
  goal: number
  /** The maximum time of a response at 100,000 issues, at the 99th percentile, in milliseconds. */
  limitMs?: number
  target(seeded: Seeded, n: number): string
  body?(seeded: Seeded, n: number): unknown
  /** Returns the path of the POST that undoes a request. A round sends at most one request for each issue then. */
  undo?(seeded: Seeded, n: number): string
}

const any = <T>(list: readonly T[], n: number) => list[(n * 7_919) % list.length]!
const company = ({ companyId }: Seeded) => `/api/companies/${companyId}`

/** A parameter that no endpoint knows: a URL that is not in the response cache costs what the first request after a change costs. */
const uncached = (n: number) => `n=${n}`

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'read an issue',
    method: 'GET',
    clients: 16,
    requests: 6_000,
    goal: 0.5,
    target: ({ issueIds }, n) => `/api/issues/${any(issueIds, n)}`,
  },
  {
    name: 'list 50 issues',
    method: 'GET',
    clients: 1,
    requests: 500,
    goal: 0.2,
    target: (seeded) => `${company(seeded)}/issues?limit=50`,
  },
  {
    name: 'list 50 issues, uncached',
    method: 'GET',
    clients: 1,
    requests: 300,
    goal: 0.2,
    target: (seeded, n) => `${company(seeded)}/issues?limit=50&${uncached(n)}`,
  },
  {
    name: 'list 500 issues',
    method: 'GET',
    clients: 1,
    requests: 100,
    goal: 0.04,
    target: (seeded) => `${company(seeded)}/issues`,
  },
  {
    name: 'list 50 activities',
    method: 'GET',
    clients: 1,
    requests: 500,
    goal: 0.15,
    target: (seeded) => `${company(seeded)}/activity?limit=50`,
  },
  {
    name: 'list 50 activities, uncached',
    method: 'GET',
    clients: 1,
    requests: 300,
    goal: 0.15,
    target: (seeded, n) => `${company(seeded)}/activity?limit=50&${uncached(n)}`,
  },
  {
    name: 'search two words',
    method: 'GET',
    clients: 8,
    requests: 300,
    goal: 0.02,
    limitMs: 50,
    target: (seeded, n) => `${company(seeded)}/search?q=${wordAt(n % 40)}%20${wordAt((n * 31) % 900)}`,
  },
  {
    name: 'search a rare prefix',
    method: 'GET',
    clients: 8,
    requests: 300,
    goal: 0.02,
    limitMs: 50,
    target: (seeded, n) => `${company(seeded)}/search?q=${wordAt((n * 37) % 1_728).slice(0, 4)}`,
  },
  {
    name: 'read the dashboard',
    method: 'GET',
    clients: 16,
    requests: 1_500,
    goal: 0.25,
    target: (seeded) => `${company(seeded)}/dashboard`,
  },
  {
    name: 'comment, durably',
    method: 'POST',
    clients: 16,
    requests: 1_500,
    goal: 0.2,
    target: ({ issueIds }, n) => `/api/issues/${any(issueIds, n)}/comments`,
    body: (_, n) => ({ body: `Comment ${n}: this is what I found, and what I will do next.` }),
  },
  {
    name: 'create an issue, durably',
    method: 'POST',
    clients: 16,
    requests: 1_000,
    goal: 0.15,
    target: (seeded) => `${company(seeded)}/issues`,
    body: (_, n) => ({ title: `Task ${n}`, description: 'What is to be done, in a sentence or two.' }),
  },
  {
    name: 'check out, durably',
    method: 'POST',
    clients: 16,
    requests: 1_000,
    goal: 0.2,
    target: ({ issueIds }, n) => `/api/issues/${issueIds[n % issueIds.length]}/checkout`,
    body: ({ agentId }) => ({ agentId, expectedStatuses: ['todo'] }),
    undo: ({ issueIds }, n) => `/api/issues/${issueIds[n % issueIds.length]}/release`,
  },
]

/** Returns a request as the bytes on the wire. */
export const requestOf = ({ method, target, body }: Scenario, seeded: Seeded, port: number, n: number): string =>
  toBytes(method, target(seeded, n), port, body?.(seeded, n))

/** Returns the request that undoes request `n`. */
export const undoingRequestOf = ({ undo }: Scenario, seeded: Seeded, port: number, n: number): string =>
  toBytes('POST', undo!(seeded, n), port, {})

function toBytes(method: string, target: string, port: number, body: unknown): string {
  const head = `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  if (body === undefined) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
