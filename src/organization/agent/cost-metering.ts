import type { Metering } from '../../adapter/adapter.ts'
import { adapterOf } from '../../adapter/registry.ts'

/** Returns when the program of an adapter reports the costs of a run. */
export const meteringOf = (adapterType: string): Metering => adapterOf(adapterType)?.metering ?? 'none'

const NOT_METERED =
  'Its costs cannot be metered live: the program does not report them. Only cost events that the agent reports itself count against its budget.'

/**
 * Returns the reason why the budget of an agent cannot stop a live run, or does
 * not count all of its costs. Returns null if the budget can stop a live run.
 */
export function costMeteringNote(agent: { adapter_type: string; unpriced_costs: number }): string | null {
  if (meteringOf(agent.adapter_type) === 'none') return NOT_METERED
  const count = agent.unpriced_costs
  if (count === 0) return null
  return `The price of ${count === 1 ? '1 cost' : `${count} costs`} of this month is unknown: the budget does not count ${count === 1 ? 'it' : 'them'}.`
}
