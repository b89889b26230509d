/**
 * Lets agents race for issues over HTTP: `node test/chaos/race.ts [rounds=200] [agents=32]`.
 * In each round all agents check the same issue out at once, each with its own
 * key and over a connection of its own. Exits 1 unless exactly one wins every
 * round and each of the others is told who.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readConfig } from '../../src/platform/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startServer } from '../../src/server.ts'

export interface Race {
  rounds: number
  /** Rounds in which exactly one agent got the issue and its assignee is that one. */
  won: number
  /** Losers that were answered 409 with the winner's id and name. */
  told: number
}

export async function race(rounds: number, agents: number): Promise<Race> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-race-'))
  const server = await startServer(
    readConfig({ dataDir, port: '0' }, {}),
    createLog(() => {}),
  )
  try {
    return await run(server.url, rounds, agents)
  } finally {
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
  body: any
}

async function run(url: string, rounds: number, count: number): Promise<Race> {
  const ask = async (method: string, path: string, body?: object, key?: string): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const company = (await ask('POST', '/api/companies', { name: 'Race' })).body.id
  const runners = []
  for (let i = 0; i < count; i++) {
    const agent = { name: `Runner ${i}`, adapterType: 'process', adapterConfig: { command: 'true' } }
    const { id, name } = (await ask('POST', `/api/companies/${company}/agents`, agent)).body
    runners.push({ id, name, key: (await ask('POST', `/api/agents/${id}/keys`, {})).body.token })
  }
  const result: Race = { rounds, won: 0, told: 0 }
  for (let round = 0; round < rounds; round++) {
    const issue = (await ask('POST', `/api/companies/${company}/issues`, { title: `Round ${round}` })).body.id
    const answers = await Promise.all(
      runners.map(({ id, key }) =>
        ask('POST', `/api/issues/${issue}/checkout`, { agentId: id, expectedStatuses: ['todo'] }, key),
      ),
    )
    const winners = runners.filter((_, i) => answers[i]!.status === 200)
    const { assigneeAgentId } = (await ask('GET', `/api/issues/${issue}`)).body
    if (winners.length === 1 && winners[0]!.id === assigneeAgentId) result.won++
    result.told += answers.filter(
      ({ status, body }) =>
        status === 409 &&
        body.details.assigneeAgentId === winners[0]?.id &&
        body.details.assigneeName === winners[0]?.name,
    ).length
  }
  return result
}

if (import.meta.main) {
  const [rounds = 200, agents = 32] = process.argv.slice(2).map(Number)
  const { won, told } = await race(rounds, agents)
  process.stdout.write(
    `${won} of ${rounds} rounds with one winner; ${told} of ${rounds * (agents - 1)} others told who\n`,
  )
  process.exitCode = won === rounds && told === rounds * (agents - 1) ? 0 : 1
}
