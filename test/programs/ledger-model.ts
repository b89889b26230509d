import { type Decision, type ModelCall, serveModel } from './model.ts'
import type { Block, Usage } from './protocols.ts'

/** Marks in the prompts of the agent and of its sub-agents, to distinguish their calls. */
export const MAIN = 'MAIN-TASK'
export const CHILD = 'CHILD-TASK'

/** The behaviour of the model at one call. */
export interface Turn {
  block: Block
  usage?: Partial<Usage>
  /** Sends only the beginning of the response, so that the call hangs. */
  hangs?: true | undefined
}

export interface ScriptCall {
  role: 'main' | 'child'
  /** The number of earlier calls of the same role, on the current page of the ledger. */
  n: number
  model: string
  /** Whether the conversation contains the prompt of an earlier run. */
  resumed: boolean
}

export type Script = (call: ScriptCall) => Turn | Decision

/** One call with the cost that the provider charges. */
interface Entry {
  model: string
  usage: Usage
  /** Whether the response was sent completely. */
  isWhole: boolean
}

/** A model that follows a script and records the cost of each call. */
export interface LedgerModel {
  url: string
  /** Begins a new page of the ledger. */
  begin(script: Script): void
  /** The number of calls of the page with a complete response. */
  whole(): number
  /** The number of calls of the page that hang. */
  hanging(): number
  /** Completes the calls that hang. */
  release(): void
  page(): readonly Entry[]
  close(): void
}

export async function startLedgerModel(): Promise<LedgerModel> {
  let entries: Entry[] = []
  let script: Script = () => ({ block: { text: 'Done.' } })
  let counts = { main: 0, child: 0 }
  let hanging = 0
  let gate = Promise.withResolvers<void>()
  const { url, close } = await serveModel((call, response) => {
    const role = roleOf(call)
    if (role === 'side') return record({ block: { text: 'A title' }, usage: { input: 90, cached: 0, output: 7 } })
    const resumed = call.conversation.split(MAIN).length > 2
    const decision = script({ role, n: counts[role]++, model: call.model, resumed })
    if ('error' in decision) return decision
    const { block, usage, hangs } = decision as Turn
    // Each call has a different cost, so that a missing or duplicate call is detected.
    const whole = { input: 1_000 + 13 * entries.length, cached: 0, output: 100 + 7 * entries.length, ...usage }
    return record({ block, usage: whole, hangs })

    function record({ block, usage, hangs }: Turn & { usage: Usage }): Decision {
      const entry = { model: call.model, usage, isWhole: false }
      entries.push(entry)
      response.on('finish', () => {
        entry.isWhole = true
      })
      if (!hangs) return { block, usage }
      hanging++
      response.on('close', () => hanging--)
      return { block, usage, rest: gate.promise }
    }
  })
  return {
    url,
    begin(next) {
      entries = []
      counts = { main: 0, child: 0 }
      script = next
      gate.resolve()
      gate = Promise.withResolvers()
    },
    whole: () => entries.filter(({ isWhole }) => isWhole).length,
    hanging: () => hanging,
    release: () => gate.resolve(),
    page: () => entries,
    close() {
      gate.resolve()
      close()
    },
  }
}

function roleOf({ conversation, hasTools }: ModelCall): 'main' | 'child' | 'side' {
  if (!hasTools) return 'side'
  if (conversation.includes(MAIN)) return 'main'
  return conversation.includes(CHILD) ? 'child' : 'side'
}

/** List prices in dollars per million tokens: input, read from a cache, written for five minutes and for an hour, output. */
const PRICES: [RegExp, readonly [number, number, number, number, number]][] = [
  [/^claude-sonnet-4-5/, [3, 0.3, 3.75, 6, 15]],
  [/^claude-haiku-5-5/, [0.1, 0.01, 0.125, 0.2, 0.5]],
  [/^claude-haiku-4-5/, [1, 0.1, 1.25, 2, 5]],
  [/^gemini-2.5-pro$/, [1.25, 0.125, 1.25, 1.25, 10]],
  [/^gemini-2.5-flash$/, [0.3, 0.03, 0.3, 0.3, 2.5]],
  [/^gemini-2.5-flash-lite$/, [0.1, 0.01, 0.1, 0.1, 0.4]],
  [/^gpt-6\.1-sol$/, [2, 0.1, 2, 2, 10]],
  [/^gpt-5\.4-mini$/, [0.75, 0.075, 0.75, 0.75, 4.5]],
]

/** Returns the cost of a call, in micro-dollars. */
export function microsOf({ model, usage }: Pick<Entry, 'model' | 'usage'>): number {
  const price = PRICES.find(([name]) => name.test(model))?.[1]
  if (!price) throw new Error(`The ledger has no price of ${model}.`)
  const [input, cached, written5m, written1h, output] = price
  return (
    usage.input * input +
    usage.cached * cached +
    (usage.written5m ?? 0) * written5m +
    (usage.written1h ?? 0) * written1h +
    usage.output * output
  )
}
