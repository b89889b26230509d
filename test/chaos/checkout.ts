/**
 * Proves that checkouts are linearizable: `npm run prove:checkout [-- operations=1000000 clients=32]`.
 *
 * Agents check issues out and release them over HTTP, each with its own key and
 * connection, on a few shared issues. The activity gives the
 * order of the changes. The history is linearizable if that order allows each
 * change, agrees with the time of each request, and explains each refusal by
 * an owner during the request. The check must also detect incorrect histories.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { serve } from '../../bench/process.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startServer } from '../../src/server.ts'

/** One request of an agent, with the times of the request and of its response. */
export interface Operation {
  issueId: string
  agentId: string
  kind: 'checkout' | 'release'
  sentAt: number
  receivedAt: number
  /** The owner that a refused checkout names; null if the operation succeeded. */
  refusedBy: string | null
}

/** A change as the activity records it, in its order. */
export interface Change {
  issueId: string
  agentId: string
  kind: 'checkout' | 'release'
}

const ISSUES = 16

interface HistoryServer {
  port: number
  stop(): Promise<void>
}

/** Starts a server in this process. */
async function serveHere(dataDir: string): Promise<HistoryServer> {
  const server = await startServer(
    readConfig({ dataDir, port: '0' }, {}),
    createLog(() => {}),
  )
  return { port: Number(new URL(server.url).port), stop: () => server.close() }
}

/** A report of the progress after so many operations. */
const PROGRESS_OPERATIONS = 100_000

/**
 * @param start starts the server: in this process, or in its own to use two cores
 * @param tell receives a line about the progress
 */
export async function recordHistory(
  count: number,
  clients: number,
  start: (dataDir: string) => Promise<HistoryServer> = serveHere,
  tell: (line: string) => void = () => {},
): Promise<{ operations: Operation[]; changes: Change[] }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-checkout-'))
  const server = await start(dataDir)
  const operations: Operation[] = []
  try {
    const send = senderTo(`http://127.0.0.1:${server.port}`)
    const board = send(undefined)
    const { id: companyId } = (await board('POST', '/api/companies', { name: 'Race' })).body
    const issueIds: string[] = []
    for (let n = 0; n < ISSUES; n++) {
      issueIds.push((await board('POST', `/api/companies/${companyId}/issues`, { title: `Issue ${n}` })).body.id)
    }
    const names = new Map<string, string>()
    const work = async (n: number) => {
      const agent = { name: `Runner ${n}`, adapterType: 'none' }
      const { id: agentId } = (await board('POST', `/api/companies/${companyId}/agents`, agent)).body
      names.set(agentId, agent.name)
      const ask = send((await board('POST', `/api/agents/${agentId}/keys`, {})).body.token)
      while (operations.length < count) {
        const issueId = issueIds[Math.floor(Math.random() * ISSUES)]!
        const perform = async (kind: Operation['kind'], body: object) => {
          const sentAt = performance.now()
          const reply = await ask('POST', `/api/issues/${issueId}/${kind}`, body)
          const refusedBy = reply.status === 200 ? null : reply.body.details?.assigneeAgentId
          const isNamed = refusedBy === null || reply.body.details?.assigneeName === names.get(refusedBy)
          if (refusedBy === undefined || !isNamed)
            throw new Error(`${kind}: ${reply.status} ${JSON.stringify(reply.body)}`)
          operations.push({ issueId, agentId, kind, sentAt, receivedAt: performance.now(), refusedBy })
          if (operations.length % PROGRESS_OPERATIONS === 0) tell(`${operations.length} operations`)
          return refusedBy === null
        }
        if (await perform('checkout', { agentId })) await perform('release', {})
      }
    }
    await Promise.all(Array.from({ length: clients }, (_, n) => work(n)))
  } finally {
    await server.stop()
  }
  try {
    return { operations, changes: readChanges(path.join(dataDir, 'service.db')) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function readChanges(file: string): Change[] {
  const sqlite = new Database(file, { readonly: true })
  const rows = sqlite
    .prepare<[], Change>(
      `select entity_id as issueId, actor_id as agentId, iif(action = 'issue.released', 'release', 'checkout') as kind
       from activity where action in ('issue.checked_out', 'issue.released') order by seq`,
    )
    .all()
  sqlite.close()
  return rows
}

/** Returns the first fault of a history, or undefined if it is linearizable. */
export function findFault(operations: readonly Operation[], changes: readonly Change[]): string | undefined {
  const byIssue = Map.groupBy(operations, (operation) => operation.issueId)
  const changesByIssue = Map.groupBy(changes, (change) => change.issueId)
  for (const [issueId, ofIssue] of byIssue) {
    const fault = findFaultOfIssue(ofIssue, changesByIssue.get(issueId) ?? [])
    if (fault !== undefined) return `${issueId}: ${fault}`
  }
  return undefined
}

function findFaultOfIssue(operations: readonly Operation[], changes: readonly Change[]): string | undefined {
  const keyOf = ({ agentId, kind }: Change) => `${kind} ${agentId}`
  const succeeded = Map.groupBy(
    operations.filter((operation) => operation.refusedBy === null),
    keyOf,
  )
  const taken = new Map<string, number>()
  /** The periods of each owner, from the earliest possible begin to the latest possible end. */
  const periods = new Map<string, { from: number; to: number }[]>()
  let owner: string | undefined
  // A change takes effect after all earlier changes were sent, and before its response arrived.
  let notBefore = Number.NEGATIVE_INFINITY
  for (const change of changes) {
    const key = keyOf(change)
    const operation = succeeded.get(key)?.[taken.get(key) ?? 0]
    taken.set(key, (taken.get(key) ?? 0) + 1)
    if (!operation) return `the activity has a ${key} that no client received`
    if (owner !== (change.kind === 'checkout' ? undefined : change.agentId)) return `${key} while ${owner} owns it`
    notBefore = Math.max(notBefore, operation.sentAt)
    if (operation.receivedAt < notBefore) return `${key} was received before an earlier change was sent`
    owner = change.kind === 'checkout' ? change.agentId : undefined
    const ofAgent = periods.get(change.agentId) ?? []
    periods.set(change.agentId, ofAgent)
    if (owner) ofAgent.push({ from: notBefore, to: Number.POSITIVE_INFINITY })
    else ofAgent.at(-1)!.to = operation.receivedAt
  }
  for (const [key, ofKey] of succeeded) {
    if (ofKey.length !== taken.get(key)) return `a client received a ${key} that the activity does not have`
  }
  for (const { refusedBy, sentAt, receivedAt, agentId } of operations) {
    if (refusedBy === null) continue
    const explains = (periods.get(refusedBy) ?? []).some(({ from, to }) => from <= receivedAt && to >= sentAt)
    if (!explains) return `${agentId} was refused because of ${refusedBy}, which did not own it then`
  }
  return undefined
}

/** Returns histories that are each incorrect in a different way. */
export function withFaults({ operations, changes }: { operations: Operation[]; changes: Change[] }) {
  const refused = operations.findIndex((operation) => operation.refusedBy !== null)
  const never = { ...operations[refused]!, refusedBy: operations[refused]!.agentId, sentAt: -2, receivedAt: -1 }
  const second = changes.findIndex((change, i) => i > 0 && change.kind === 'checkout')
  return {
    'a second winner': { operations: operations.with(refused, { ...operations[refused]!, refusedBy: null }), changes },
    'a lost checkout': { operations, changes: changes.toSpliced(second, 1) },
    'a refusal by an agent that never owned it': { operations: operations.with(refused, never), changes },
  }
}

interface TestResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: arbitrary fields of responses are read.
  body: any
}

const senderTo = (url: string) => (token: string | undefined) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (method: string, target: string, body: object) =>
    new Promise<TestResponse>((resolve, reject) => {
      const text = JSON.stringify(body)
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...(token && { authorization: `Bearer ${token}` }),
      }
      const sent = request(url + target, { method, headers, agent }, (response) => {
        let received = ''
        response.setEncoding('utf8').on('data', (part) => {
          received += part
        })
        response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(received) }))
      })
      sent.on('error', reject)
      sent.end(text)
    })
}

if (import.meta.main) {
  const [count = 1_000_000, clients = 32] = process.argv.slice(2).map(Number)
  const began = performance.now()
  const tell = (line: string) => process.stderr.write(`${line}\n`)
  const history = await recordHistory(count, clients, (dataDir) => serve('service', dataDir), tell)
  const fault = findFault(history.operations, history.changes)
  const { length } = history.operations
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  const refused = history.operations.filter((operation) => operation.refusedBy !== null).length
  process.stdout.write(
    `${length} operations by ${clients} clients in ${seconds} s, ${refused} refused: ${fault ?? 'linearizable'}\n`,
  )
  if (fault !== undefined) process.exitCode = 1
  for (const [name, wrong] of Object.entries(withFaults(history))) {
    const found = findFault(wrong.operations, wrong.changes)
    process.stdout.write(`with ${name}: ${found ? 'found' : 'NOT FOUND'}\n`)
    if (found === undefined) process.exitCode = 1
  }
}
