import type { Events } from '../../platform/events.ts'
import type { ItemOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type Run, type Step, stepsOfActivity, stepsOfRun, type Team, type Titles } from './steps.ts'

export interface Follow {
  client: Client
  events: Events
  companyId: string
  /** The number of issues after the agents have expanded the outline. */
  issueCount: number
  /** The time limit, in milliseconds since 1970. */
  deadline: number
  onStep(step: Step, spendCents: number): void
}

/** The state of the company at one time. */
export interface Snapshot {
  team: Team
  issues: ItemOf<'GET /api/companies/:companyId/issues'>[]
  runs: Run[]
  spendCents: number
}

/**
 * Follows a company until all its work is done. It reports each step once and in
 * order, and approves the requests of the agents as the board. The events are
 * only a trigger; the steps are read from the API.
 *
 * @returns the last snapshot; if the deadline came first, not all of its issues are done
 */
export async function followCompany(follow: Follow): Promise<Snapshot> {
  const { client, events, companyId, deadline } = follow
  const params = { companyId }
  const all = { params, query: { limit: 1000 } }
  const agents = await client.request('GET /api/companies/:companyId/agents', { params })
  const team: Team = new Map(agents.map((agent) => [agent.id, agent]))
  const seen = new Set<string>()
  const signal = createSignal()
  const unsubscribe = events.subscribe((event) => {
    if (event.companyId === companyId) signal.raise()
  })
  try {
    for (;;) {
      await approvePending(client, companyId)
      const activity = await client.request('GET /api/companies/:companyId/activity', all)
      const runs = await client.request('GET /api/companies/:companyId/runs', all)
      // Issues are read last, so that they include all issues to which the others refer.
      const issues = await client.request('GET /api/companies/:companyId/issues', all)
      const { spentMonthlyCents: spendCents } = await client.request('GET /api/companies/:companyId', { params })
      const titles: Titles = new Map(issues.map((issue) => [issue.id, issue]))
      const steps = [
        ...stepsOfActivity(activity, team, titles),
        ...runs.flatMap((run) => stepsOfRun(run, team, titles)),
      ]
      const fresh = steps.filter((step) => !seen.has(step.id))
      for (const step of fresh.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
        seen.add(step.id)
        follow.onStep(step, spendCents)
      }
      const snapshot = { team, issues, runs, spendCents }
      if (Date.now() >= deadline) return snapshot
      // The issues are newer than the steps, so one more pass reports the last steps.
      if (isFinal(snapshot, follow.issueCount)) {
        if (fresh.length === 0) return snapshot
        continue
      }
      await signal.wait(deadline - Date.now())
    }
  } finally {
    unsubscribe()
  }
}

export const isDone = ({ issues }: Snapshot, issueCount: number): boolean =>
  issues.length >= issueCount && issues.every((issue) => issue.status === 'done' || issue.status === 'cancelled')

/** Whether all issues are done and no run is live, so that the cost is final. */
const isFinal = (snapshot: Snapshot, issueCount: number) =>
  isDone(snapshot, issueCount) && !snapshot.runs.some((run) => run.status === 'starting' || run.status === 'running')

/** Approves everything that the agents request, as the board of the demo. */
async function approvePending(client: Client, companyId: string): Promise<void> {
  const query = { status: 'pending' }
  const pending = await client.request('GET /api/companies/:companyId/approvals', { params: { companyId }, query })
  for (const { id } of pending) {
    const decision = { params: { approvalId: id }, body: { decisionNote: 'Go ahead.' } }
    await client.request('POST /api/approvals/:approvalId/approve', decision)
  }
}

/** Creates a signal to wait for, which may already be raised. */
function createSignal() {
  let raised = false
  let release: (() => void) | undefined
  return {
    raise() {
      raised = true
      release?.()
    },
    /** Waits until the signal is raised or a timeout in milliseconds has passed, and lowers it. */
    async wait(ms: number): Promise<void> {
      if (!raised) {
        const { promise, resolve } = Promise.withResolvers<void>()
        release = resolve
        const timer = setTimeout(resolve, ms)
        await promise
        clearTimeout(timer)
        release = undefined
      }
      raised = false
    },
  }
}
