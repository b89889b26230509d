import type { Events } from '../../platform/events.ts'
import type { ItemOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type Run, type Step, stepsOfActivity, stepsOfRun, type Team, type Titles } from './steps.ts'

export interface Follow {
  client: Client
  events: Events
  companyId: string
  /** How many issues the company has when its work is worked out. */
  issueCount: number
  /** Gives up at this moment, in milliseconds since the epoch. */
  deadline: number
  onStep(step: Step, spendCents: number): void
}

/** What the company has at a moment. */
export interface Picture {
  team: Team
  issues: ItemOf<'GET /api/companies/:companyId/issues'>[]
  runs: Run[]
  spendCents: number
}

/**
 * Follows a company until all its work is done, telling each step once and in
 * order, and answering for the board what the agents ask it. The events only
 * say that something happened; what it was is read from the API.
 *
 * @returns the last picture; its issues are not all done when the deadline came first
 */
export async function followCompany(follow: Follow): Promise<Picture> {
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
      // Read last: what the others speak of is among them.
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
      const picture = { team, issues, runs, spendCents }
      if (Date.now() >= deadline) return picture
      // The issues are newer than the steps: one more look tells the last of them.
      if (isSettled(picture, follow.issueCount)) {
        if (fresh.length === 0) return picture
        continue
      }
      await signal.wait(deadline - Date.now())
    }
  } finally {
    unsubscribe()
  }
}

export const isDone = ({ issues }: Picture, issueCount: number): boolean =>
  issues.length >= issueCount && issues.every((issue) => issue.status === 'done' || issue.status === 'cancelled')

/** All is done, and nobody works any more: so the cost is final. */
const isSettled = (picture: Picture, issueCount: number) =>
  isDone(picture, issueCount) && !picture.runs.some((run) => run.status === 'starting' || run.status === 'running')

/** Approves everything that the agents request, as the board of the demo. */
async function approvePending(client: Client, companyId: string): Promise<void> {
  const query = { status: 'pending' }
  const pending = await client.request('GET /api/companies/:companyId/approvals', { params: { companyId }, query })
  for (const { id } of pending) {
    const decision = { params: { approvalId: id }, body: { decisionNote: 'Go ahead.' } }
    await client.request('POST /api/approvals/:approvalId/approve', decision)
  }
}

/** Something to wait for that may have happened already. */
function createSignal() {
  let raised = false
  let release: (() => void) | undefined
  return {
    raise() {
      raised = true
      release?.()
    },
    /** Waits until it is raised, at most so many milliseconds, and lowers it. */
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
