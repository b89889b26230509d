import * as v from 'valibot'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { isReady } from '../../organization/agent/lifecycle.ts'
import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { isSpent } from '../../organization/cost/budget.ts'
import { toCents } from '../../organization/cost/money.ts'
import { agentSpend, companySpend } from '../../organization/cost/queries.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import { listLiveRuns } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'

/** One thing that keeps a run from starting, as the API returns it. */
export const StartCondition = v.strictObject({
  code: v.string(),
  effect: v.pipe(
    v.picklist(['waits', 'refused', 'fails']),
    v.description('It would wait until the cause is gone, be refused, or start and fail at once.'),
  ),
  message: v.pipe(v.string(), v.description('The reason, and what to do about it.')),
})
export type Gate = v.InferOutput<typeof StartCondition>

/**
 * What of the company, the agent and the server stands in the way of a run:
 * the same that `findNextWake` and `claimRuns` go by, said one by one.
 *
 * @param notBefore the moment that the waiting wake waits for, if there is one
 */
export function gatesOf(ctx: Context, agent: AgentRow, notBefore: string | null): Gate[] {
  const company = findCompany(ctx.db, { id: agent.company_id })!
  const spending = { companyId: company.id, agentId: agent.id, now: ctx.now }
  const spentByAgent = agentSpend(ctx.db, spending)
  const spentByCompany = companySpend(ctx.db, spending)
  const live = listLiveRuns(ctx.db)
  const own = live.filter((run) => run.agent_id === agent.id).length
  const { maxConcurrentRuns } = heartbeatOf(agent)
  const found: (Gate | false)[] = [
    findFreeze(ctx.db) !== undefined && {
      code: 'frozen',
      effect: 'waits',
      message: 'Everything is frozen. `service thaw` lets it go on.',
    },
    agent.adapter_type === 'none' && {
      code: 'works_elsewhere',
      effect: 'refused',
      message: `${agent.name} works elsewhere and is not started from here (adapter none).`,
    },
    !isReady(agent.status) && statusGate(agent),
    agent.held_until !== null &&
      agent.held_until > ctx.now && {
        code: 'held',
        effect: 'waits',
        message: `${agent.name} is held until ${agent.held_until}: ${agent.held_because}`,
      },
    company.stopped_at !== null && {
      code: 'company_stopped',
      effect: 'waits',
      message: 'The company is stopped. Thaw it.',
    },
    company.status !== 'active' && {
      code: 'company_status',
      effect: 'waits',
      message: `The company is ${company.status}${company.pause_reason === 'budget' ? ': its budget is spent' : ''}.`,
    },
    isSpent(agent.budget_micros, spentByAgent) && {
      code: 'agent_budget',
      effect: 'waits',
      message: `${agent.name} has spent ${inDollars(spentByAgent)} of its ${inDollars(agent.budget_micros)} of this month. Raise its budget.`,
    },
    isSpent(company.budget_micros, spentByCompany) && {
      code: 'company_budget',
      effect: 'waits',
      message: `The company has spent ${inDollars(spentByCompany)} of its ${inDollars(company.budget_micros)} of this month. Raise its budget.`,
    },
    own >= maxConcurrentRuns && {
      code: 'agent_busy',
      effect: 'waits',
      message: `${agent.name} has ${own} of its ${maxConcurrentRuns} runs at a time (maxConcurrentRuns).`,
    },
    live.length >= ctx.config.maxRuns && {
      code: 'server_busy',
      effect: 'waits',
      message: `${live.length} runs are live, and the server takes ${ctx.config.maxRuns} at a time (maxRuns).`,
    },
    notBefore !== null &&
      notBefore > ctx.now && { code: 'not_before', effect: 'waits', message: `Its wake waits until ${notBefore}.` },
  ]
  return found.filter((gate) => gate !== false)
}

function statusGate(agent: AgentRow): Gate {
  if (agent.status === 'terminated') {
    return { code: 'agent_status', effect: 'refused', message: `${agent.name} is terminated, for good.` }
  }
  if (agent.status === 'pending_approval') {
    return { code: 'agent_status', effect: 'refused', message: `${agent.name} waits for the approval of the board.` }
  }
  const why = agent.pause_message ?? agent.pause_reason
  return { code: 'agent_status', effect: 'waits', message: `${agent.name} is paused: ${why} Resume it.` }
}

const inDollars = (micros: number) => `$${(toCents(micros) / 100).toFixed(2)}`
