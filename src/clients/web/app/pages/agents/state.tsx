import { placeOf } from '../../../../run-place.ts'
import { money } from '../../kit/format.ts'
import { Ago } from '../../kit/time.tsx'
import { issues, liveRuns, pathTo } from '../../state/company.ts'
import type { Agent } from '../../state/types.ts'

/** The status of an agent, or `held` for an idle agent that may not start yet: its program is missing, or its provider refuses. */
export type AgentState = Agent['status'] | 'held'

const isHeld = ({ heldUntil }: Agent) => heldUntil !== null && Date.parse(heldUntil) > Date.now()

export const stateOf = (agent: Agent): AgentState => (agent.status === 'idle' && isHeld(agent) ? 'held' : agent.status)

export const STATE_NAME: Record<AgentState, string> = {
  running: 'Working',
  held: 'Held',
  idle: 'Ready',
  paused: 'Paused',
  error: 'Error',
  pending_approval: 'Pending approval',
  terminated: 'Terminated',
}

/** The order of the states in the list. */
export const STATE_ORDER: readonly AgentState[] = [
  'running',
  'error',
  'held',
  'paused',
  'pending_approval',
  'idle',
  'terminated',
]

/** The current work of an agent, or the reason why it does not work. */
export function AgentWork({ agent }: { agent: Agent }) {
  const live = liveRuns.value.filter((run) => run.agentId === agent.id)
  if (live.length > 0) {
    const issue = issues.get(live[0]!.issueId)
    return (
      <span class="clip">
        {issue ? (
          <a class="above" href={pathTo(`issues/${issue.identifier}`)}>
            <span class="id">{issue.identifier}</span> {issue.title}
          </a>
        ) : (
          <a class="above" href={pathTo(`runs/${live[0]!.id}`)}>
            Looking for work
          </a>
        )}
        {live.length > 1 && ` and ${live.length - 1} more`}
        {live[0]!.placement && <span class={live[0]!.waitingBecause ? 'warn' : 'note'}> {placeOf(live[0]!)}</span>}
      </span>
    )
  }
  if (agent.status === 'error') return <span class="error clip">{agent.errorReason ?? 'Its last run failed.'}</span>
  if (agent.heldUntil !== null && isHeld(agent)) {
    return (
      <span class="warn clip" title={agent.heldBecause ?? undefined}>
        Tries again <Ago at={agent.heldUntil} />: {agent.heldBecause ?? 'its provider refuses requests.'}
      </span>
    )
  }
  if (agent.status === 'paused')
    return <span class="note clip">{agent.pauseMessage ?? PAUSED[agent.pauseReason ?? 'manual'](agent)}</span>
  if (agent.status === 'pending_approval') return <span class="note">The board must approve its hire.</span>
  return (
    <span class="note">
      {agent.lastHeartbeatAt ? (
        <>
          Last run <Ago at={agent.lastHeartbeatAt} />
        </>
      ) : (
        'Has not run yet'
      )}
    </span>
  )
}

const PAUSED: Record<NonNullable<Agent['pauseReason']>, (agent: Agent) => string> = {
  manual: () => 'Paused by a person',
  budget: (agent) => `Has spent its budget of ${money(agent.budgetMonthlyCents)} for this month`,
  failures: () => 'Three runs in a row failed',
  loop: () => 'Repeated runs changed nothing',
}

/** The spent part of the budget, as an amount and a bar. */
export function BudgetMeter({
  agent,
}: {
  agent: Pick<Agent, 'spentMonthlyCents' | 'budgetMonthlyCents' | 'budgetStatus'>
}) {
  const { spentMonthlyCents: spent, budgetMonthlyCents: budget, budgetStatus } = agent
  return (
    <span class={`budget-meter ${budgetStatus}`}>
      <span class="num">
        {money(spent)}
        {budget > 0 && <span class="none"> / {money(budget)}</span>}
      </span>
      {budget > 0 && (
        <progress max={budget} value={Math.min(spent, budget)} aria-label="Spent part of the monthly budget" />
      )}
    </span>
  )
}
