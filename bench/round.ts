import { type Load, measure } from './load.ts'
import { cpuSeconds, type ServerProcess } from './process.ts'
import { requestOf, type Scenario, undoingRequestOf } from './scenarios.ts'
import type { Seeded } from './seed.ts'

interface Round {
  scenario: Scenario
  seeded: Seeded
  server: ServerProcess
  /** The number of the first request. */
  from: number
  requests: number
}

/**
 * Sends requests of a scenario. Then undoes them outside the measurement, so
 * that each checkout finds a free issue.
 *
 * @returns the requests per second, the time of each in milliseconds, and the CPU time of one in microseconds
 */
export async function measureRound({ scenario, seeded, server, from, requests }: Round) {
  const load: Load = { clients: scenario.clients, requests }
  const before = cpuSeconds(server.pid)
  const { rate, times } = await measure(server.port, load, (n) => requestOf(scenario, seeded, server.port, from + n))
  const micros = ((cpuSeconds(server.pid) - before) / requests) * 1e6
  if (scenario.undo) {
    await measure(server.port, load, (n) => undoingRequestOf(scenario, seeded, server.port, from + n))
  }
  return { rate, times, micros }
}
