import { useSignal } from '@preact/signals'
import { money } from '../../kit/format.ts'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, may } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

interface BudgetProps {
  /** The name of the agent or company. */
  label: string
  /** The budget in US cents; 0 means no limit. */
  cents: number
  onSave: (cents: number) => void
}

/** A monthly budget, edited in place. Enter saves, Escape cancels. An empty field, or 0, means no limit. */
export function Budget({ label, cents, onSave }: BudgetProps) {
  const text = useSignal<string | undefined>(undefined)
  const displayed = cents === 0 ? 'no limit' : money(cents)
  if (!may('admin')) return <span class="num">{displayed}</span>
  if (text.value === undefined) {
    return (
      <button
        type="button"
        class="budget num"
        title={`Change the budget of ${label}`}
        onClick={() => {
          text.value = cents === 0 ? '' : String(cents / 100)
        }}
      >
        {displayed}
      </button>
    )
  }
  const save = () => {
    // The field also loses the focus when Enter or Escape removes it.
    const typed = text.peek()
    if (typed === undefined) return
    text.value = undefined
    const wanted = Math.round(Number(typed) * 100)
    if (Number.isFinite(wanted) && wanted >= 0 && wanted !== cents) onSave(wanted)
  }
  return (
    <span class="input-box budget-field">
      <span class="prefix">$</span>
      <input
        type="number"
        min="0"
        step="any"
        aria-label={`Monthly budget of ${label} in dollars; empty means no limit`}
        placeholder="no limit"
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === 'Enter') save()
          if (event.key === 'Escape') text.value = undefined
          event.stopPropagation()
        }}
      />
    </span>
  )
}

/** The budget of an agent. A change can be undone. */
export function AgentBudget({ agent }: { agent: Agent }) {
  return (
    <Budget
      label={agent.name}
      cents={agent.budgetMonthlyCents}
      onSave={(cents) => void saveAgentBudget(agent, cents)}
    />
  )
}

async function saveAgentBudget(agent: Agent, budgetMonthlyCents: number): Promise<void> {
  const before = agent.budgetMonthlyCents
  const saved = await act(
    () =>
      request('PATCH /api/agents/:agentId/budgets', { params: { agentId: agent.id }, body: { budgetMonthlyCents } }),
    () => agents.patch(agent.id, { budgetMonthlyCents }),
  )
  if (saved) {
    toast(`The budget of ${agent.name} is ${budgetMonthlyCents === 0 ? 'unlimited' : money(budgetMonthlyCents)}.`, {
      undo: () => void saveAgentBudget({ ...agent, budgetMonthlyCents }, before),
    })
  }
}
