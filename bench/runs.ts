/**
 * Runs of a trivial agent: how many a server finishes in a second, and how long
 * it takes from the request for one to the start of its program, when nothing
 * else runs: `node bench/runs.ts [sizes]`. Exits with 1 if a figure is over a third worse
 * in a larger company.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../src/clients/connection/client.ts'
import { serve } from './process.ts'
import { measureAtSizes, SIZES } from './sizes.ts'

const AGENTS = 40
const SINGLE_RUNS = 7

await measureAtSizes(process.argv[2] ?? SIZES, async (dataDir, { companyId, issueIds }) => {
  const server = await serve('service', dataDir)
  const api = createClient({ url: `http://127.0.0.1:${server.port}` })
  const agentIds: string[] = []
  for (let n = 0; n < AGENTS; n++) {
    const body = { name: `Agent ${n}`, adapterType: 'process' as const, adapterConfig: { command: 'true' } }
    const agent = await api.request('POST /api/companies/:companyId/agents', {
      params: { companyId },
      body,
    })
    agentIds.push(agent.id)
  }
  const invoke = (agentId: string) => api.send({ method: 'POST', path: `/api/agents/${agentId}/heartbeat/invoke` })
  const untilAllEnded = async () => {
    for (;;) {
      const { liveRuns, waitingWakes } = await api.request('GET /api/instance')
      if (liveRuns + waitingWakes === 0) return
      await delay(5)
    }
  }

  const times: number[] = []
  for (let n = 0; n < SINGLE_RUNS; n++) {
    const requested = Date.now()
    await invoke(agentIds[0]!)
    await untilAllEnded()
    const [run] = await api.request('GET /api/companies/:companyId/runs', {
      params: { companyId },
      query: { limit: '1' },
    })
    times.push(Date.parse(run!.startedAt!) - requested)
  }
  const began = performance.now()
  await Promise.all(agentIds.map(invoke))
  await untilAllEnded()
  const rate = AGENTS / ((performance.now() - began) / 1_000)
  await server.stop()
  const median = times.toSorted((a, b) => a - b)[Math.floor(SINGLE_RUNS / 2)]!
  process.stdout.write(`${issueIds.length} issues, wake to spawned: ${times.join(', ')} ms, median ${median} ms\n`)
  process.stdout.write(`${rate.toFixed(1)} runs of \`true\` a second by ${AGENTS} agents\n`)
  return new Map([
    ['runs', rate],
    ['wake to spawned', 1_000 / median],
  ])
})
