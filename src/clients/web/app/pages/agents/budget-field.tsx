import { useSignal } from '@preact/signals'
import { money } from '../../kit/format.ts'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, may } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

/** The budget of an agent. An admin can edit it in place. */
export function BudgetField({ agent }: { agent: Agent }) {
  const text = useSignal<string | undefined>(undefined)
  const displayed = agent.budgetMonthlyCents === 0 ? 'No limit' : money(agent.budgetMonthlyCents)
  if (!may('admin')) return <span>{displayed}</span>
  if (text.value === undefined) {
    return (
      <button
        type="button"
        class="in-place"
        title="Change the budget"
        onClick={() => {
          text.value = String(agent.budgetMonthlyCents / 100)
        }}
      >
        {displayed}
      </button>
    )
  }
  const save = async () => {
    const cents = Math.round(Number(text.peek()) * 100)
    text.value = undefined
    if (!(cents >= 0) || cents === agent.budgetMonthlyCents) return
    const changed = await act(
      () =>
        request('PATCH /api/agents/:agentId/budgets', {
          params: { agentId: agent.id },
          body: { budgetMonthlyCents: cents },
        }),
      () => agents.patch(agent.id, { budgetMonthlyCents: cents }),
    )
    if (changed) toast(`${agent.name} may spend ${cents === 0 ? 'without a limit' : `${money(cents)} a month`}.`)
  }
  return (
    <span class="input-box budget-input">
      <span class="prefix">$</span>
      <input
        type="number"
        min="0"
        step="any"
        aria-label="Monthly budget in dollars; 0 means no limit"
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onBlur={() => text.peek() !== undefined && void save()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save()
          if (event.key === 'Escape') text.value = undefined
        }}
      />
    </span>
  )
}
