/**
 * Breaks a real Slurm cluster of two nodes on this machine, and the server
 * above it: `npm run prove:slurm [-- lost=100 kills=50 rounds=10 stops=10]`.
 * Kills a node while runs execute on it, kills the server at random moments,
 * and stops runs by hand and by their budget. Prints the measurements, and exits
 * with 1 if a guarantee is broken. Needs Debian's slurmctld, slurmd and munge, and root.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createSlurmWorld, type Json, type SlurmWorld } from '../runtime/placement/slurm-world.ts'

/** A measurement, and the guarantees that it broke. */
export interface SlurmReport {
  measured: Record<string, number>
  broken: string[]
}

/** The amount that a run spends, in cents. Runs differ, so a cost on the wrong run shows. */
const centsOf = (i: number) => 1 + (i % 7)

/** What a node spends in this time before its power fails may be unknown: it had no time to report it. */
const UNREPORTED_MS = 2_500

/** Kills one of two nodes while runs execute on both. */
export async function loseNode(runs: number): Promise<SlurmReport> {
  const world = await createSlurmWorld(Math.ceil(runs / 2) + 1)
  try {
    const agents = await addAgents(world, runs, (i) => `spend ${centsOf(i)}\nuntil_released\n`)
    const watch = watchTokens(world)
    const startedAt = performance.now()
    const untilRunning = async () => (await world.runs()).filter(({ status }) => status === 'running').length >= runs
    await world.until(untilRunning, 'not all runs are running', 300)
    const startMs = performance.now() - startedAt
    await world.until(async () => world.spent().length >= runs, 'not all runs have spent')
    const onNode = new Set(world.jobs('RUNNING', '--nodelist=n2'))
    const ended = new Set((await world.runs()).filter(({ finishedAt }) => finishedAt).map(({ id }) => id))
    const killedAt = Date.now()
    world.cluster.killNode('n2')
    world.release()
    const all = await untilEverySucceeded(world, agents, 600)
    const { most, checks } = await watch.close()
    const lost = all.filter(({ status }) => status === 'lost')
    const broken = audit(world, agents, all, killedAt)
    const wrong = lost.filter(({ id }) => !onNode.has(id) || ended.has(id))
    if (wrong.length > 0) broken.push(`${wrong.length} runs are lost that were not on the killed node`)
    if (lost.length === 0) broken.push('the killed node had no run')
    for (const run of lost) {
      const retries = all.filter(({ retryOfRunId }) => retryOfRunId === run.id)
      if (retries.length !== 1) broken.push(`the lost run ${run.id} has ${retries.length} retries`)
      if (!/node n2 failed|did not report/.test(run.error ?? '')) broken.push(`the lost run ${run.id}: ${run.error}`)
    }
    if (most > 1) broken.push(`${most} tokens of one wake were valid at the same time`)
    const noticedMs = Math.max(...lost.map(({ finishedAt }) => Date.parse(finishedAt))) - killedAt
    return {
      measured: {
        runs,
        startMs: Math.round(startMs),
        lost: lost.length,
        noticedMs,
        tokenChecks: checks,
        mostValidTokens: most,
        ...spentOf(world, all),
      },
      broken,
    }
  } finally {
    await world.close()
  }
}

/** Kills the server at random moments while runs are submitted, wait and execute. */
export async function killServers(runs: number, rounds: number): Promise<SlurmReport> {
  const world = await createSlurmWorld(Math.ceil(runs / 2) + 1)
  try {
    const agents = await addAgents(world, runs, (i) => `spend ${centsOf(i)}\nsleep ${5 + (i % 10)}\n`)
    const watch = watchTokens(world)
    for (let round = 0; round < rounds; round++) {
      await delay(Math.random() * 6_000)
      await world.killServer()
      await delay(Math.random() * 2_000)
      await world.startServer()
    }
    const all = await untilEverySucceeded(world, agents, 300)
    const { most, checks } = await watch.close()
    const broken = audit(world, agents, all, null)
    const lost = all.filter(({ errorCode }) => errorCode === 'lost').length
    if (lost > 0) broken.push(`${lost} runs are lost although their nodes were alive`)
    if (most > 1) broken.push(`${most} tokens of one wake were valid at the same time`)
    return {
      measured: {
        runs,
        kills: rounds,
        retriedBeforeStart: all.filter(({ errorCode }) => errorCode === 'never_started').length,
        jobs: new Set(world.jobs('all')).size,
        tokenChecks: checks,
        mostValidTokens: most,
        ...spentOf(world, all),
      },
      broken,
    }
  } finally {
    await world.close()
  }
}

const GRACE_SEC = 2

/** Stops runs that ignore SIGTERM: half of them by hand, the others by their budget. */
export async function stopRuns(runs: number): Promise<SlurmReport> {
  const world = await createSlurmWorld(Math.ceil(runs / 2) + 1)
  try {
    const script = "trap '' TERM\nwhile :; do spend 1; sleep 0.5; done\n"
    const budgetCents = 20
    const more = (i: number) => ({
      adapterConfig: { graceSec: GRACE_SEC },
      ...(i % 2 === 1 && { budgetMonthlyCents: budgetCents }),
    })
    await addAgents(world, runs, () => script, more)
    await world.until(
      async () => (await world.runs()).filter(({ status }) => status === 'running').length >= runs,
      'not all runs are running',
      120,
    )
    const all = await world.runs()
    const names = new Map<string, number>()
    for (const { id, name } of await world.request('GET', `/api/companies/${world.companyId}/agents`)) {
      names.set(id, Number(name.split('-')[1]))
    }
    const byHand = all.filter(({ agentId }) => names.get(agentId)! % 2 === 0)
    await world.until(async () => byHand.every(({ id }) => world.spent().some(({ runId }) => runId === id)), 'spent')
    const stoppedAt = Date.now()
    await Promise.all(byHand.map(({ id }) => world.request('POST', `/api/runs/${id}/cancel`)))
    const isOver = async () => (await world.runs()).every(({ finishedAt }) => finishedAt) && world.runs()
    const ended = await world.until(isOver, 'not every run was stopped', 120)
    await delay(2_000)
    const broken: string[] = []
    // A program spends until its last moment, so its last record is the time of its end.
    const endOf = (runId: string) => Math.max(...world.spent().flatMap((one) => (one.runId === runId ? [one.at] : [])))
    const handMs = byHand.map(({ id }) => endOf(id) - stoppedAt)
    const byBudget = ended.filter(({ agentId }) => names.get(agentId)! % 2 === 1)
    const budgetMs = byBudget.map(({ id }) => {
      const own = world.spent().filter(({ runId }) => runId === id)
      return endOf(id) - (own[budgetCents - 1]?.at ?? Number.NaN)
    })
    const limitMs = (GRACE_SEC + 5) * 1_000
    for (const ms of [...handMs, ...budgetMs]) if (!(ms <= limitMs)) broken.push(`a program worked for ${ms} ms more`)
    for (const { id, status, stopReason } of ended) {
      const wanted = byHand.some((run) => run.id === id) ? 'cancelled' : 'budget'
      if (status !== 'cancelled' || stopReason !== wanted) broken.push(`${id} is ${status} (${stopReason})`)
    }
    await world.until(async () => world.jobs('PENDING,RUNNING,COMPLETING').length === 0, 'a job is left')
    return {
      measured: { runs, limitMs, longestStopMs: Math.max(...handMs), longestBudgetStopMs: Math.max(...budgetMs) },
      broken,
    }
  } finally {
    await world.close()
  }
}

/** Adds agents and wakes each once. @returns their ids */
async function addAgents(
  world: SlurmWorld,
  count: number,
  script: (i: number) => string,
  more: (i: number) => object = () => ({}),
): Promise<string[]> {
  const agents = []
  for (let i = 0; i < count; i++) agents.push(await world.addAgent(`agent-${i}`, script(i), more(i)))
  for (const agentId of agents) await world.wake(agentId)
  return agents
}

const untilEverySucceeded = (world: SlurmWorld, agents: string[], timeoutSec: number): Promise<Json[]> =>
  world.until(
    async () => {
      const runs = await world.runs()
      const succeeded = new Set(runs.filter(({ status }) => status === 'succeeded').map(({ agentId }) => agentId))
      return succeeded.size === agents.length && runs.every(({ finishedAt }) => finishedAt) && runs
    },
    'not every agent has a run that succeeded, or a run did not end',
    timeoutSec,
  )

/** @returns the broken guarantees: each wake succeeds once, no program starts twice, and every cost is recorded */
function audit(world: SlurmWorld, agents: string[], runs: Json[], nodeKilledAt: number | null): string[] {
  const broken: string[] = []
  const starts = world.starts()
  if (new Set(starts).size !== starts.length) broken.push('a run started twice')
  for (const agentId of agents) {
    const own = runs.filter((run) => run.agentId === agentId)
    const succeeded = own.filter(({ status }) => status === 'succeeded').length
    if (succeeded !== 1) broken.push(`the agent ${agentId} has ${succeeded} runs that succeeded`)
  }
  const live = world.jobs('PENDING,RUNNING')
  if (live.length > 0) broken.push(`${live.length} jobs are left in the cluster`)
  const submitted = world.jobs('all')
  if (new Set(submitted).size !== submitted.length) broken.push('a run was submitted twice')
  for (const { id, status, costCents } of runs) {
    const own = world.spent().filter(({ runId }) => runId === id)
    const spent = own.reduce((sum, { cents }) => sum + cents, 0)
    const isUnknown = status === 'lost' && own.some(({ at }) => at > nodeKilledAt! - UNREPORTED_MS)
    if (spent !== costCents && !isUnknown) broken.push(`${id} (${status}) spent ${spent} cents, recorded ${costCents}`)
  }
  return broken
}

const spentOf = (world: SlurmWorld, runs: Json[]) => ({
  spentCents: world.spent().reduce((sum, { cents }) => sum + cents, 0),
  recordedCents: runs.reduce((sum, { costCents }) => sum + costCents, 0),
})

/** Uses the tokens of all runs again and again, and counts the valid ones of each wake. */
function watchTokens(world: SlurmWorld) {
  let [most, checks, isOver] = [0, 0, false]
  const rootOf = new Map<string, string>()
  const isValid = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${world.url}/api/agents/me`, { headers })
    await response.arrayBuffer()
    return response.ok
  }
  const look = async () => {
    for (const { id, retryOfRunId } of await world.runs()) rootOf.set(id, retryOfRunId ?? id)
    const valid = new Map<string, number>()
    await Promise.all(
      world.tokens().map(async ({ runId, token }) => {
        checks++
        const root = rootOf.get(runId) ?? runId
        if (await isValid(token)) valid.set(root, (valid.get(root) ?? 0) + 1)
      }),
    )
    most = Math.max(most, ...valid.values())
  }
  const done = (async () => {
    while (!isOver) {
      await look().catch(() => {}) // the server is down
      await delay(500)
    }
  })()
  return {
    async close() {
      isOver = true
      await done
      return { most, checks }
    },
  }
}

if (import.meta.main) {
  const given = Object.fromEntries(process.argv.slice(2).map((one) => one.split('=')))
  const count = (name: string, otherwise: number) => Number(given[name] ?? otherwise)
  const parts: [string, () => Promise<SlurmReport>][] = [
    ['A node is killed', () => loseNode(count('lost', 100))],
    ['The server is killed', () => killServers(count('kills', 50), count('rounds', 10))],
    ['Runs are stopped', () => stopRuns(count('stops', 10))],
  ]
  for (const [what, prove] of parts) {
    const startedAt = performance.now()
    const { measured, broken } = await prove()
    process.stdout.write(
      `${what} (${Math.round((performance.now() - startedAt) / 1_000)} s): ${JSON.stringify(measured)}\n`,
    )
    for (const one of broken) process.stdout.write(`  BROKEN: ${one}\n`)
    if (broken.length > 0) process.exitCode = 1
  }
}
