import { randomUUID } from 'node:crypto'

/** Writes a run's output in the protocol of `runtimeA_local`, with plausible numbers of tokens. */
export interface Stream {
  begin(cwd: string, prompt: string): void
  /** Writes a message of the agent. */
  say(text: string): void
  end(): void
  /** Ends the output with a failure. */
  fail(message: string): void
}

/** US dollars per token. A run costs one or two cents. */
const PRICE = { input: 3e-6, output: 15e-6 }

/** The tokens that a model reads from its cache at each turn, besides the prompt. */
const TOKENS_PER_TURN = 700

export function createStream(write: (line: object) => void, session: string): Stream {
  const total = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }
  let promptTokens = 0
  let turns = 0
  let last = ''

  const result = (ending: object) => {
    const cost = total.input_tokens * PRICE.input + total.output_tokens * PRICE.output
    const usage = { inputTokens: total.input_tokens, outputTokens: total.output_tokens }
    write({
      type: 'result',
      ...ending,
      num_turns: turns,
      session_id: session,
      total_cost_usd: cost,
      usage: total,
      modelUsage: {
        demo: { ...usage, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: cost },
      },
    })
  }

  return {
    begin(cwd, prompt) {
      promptTokens = Math.ceil(prompt.length / 16)
      write({ type: 'system', subtype: 'init', session_id: session, cwd, model: 'demo', tools: [] })
    },
    say(text) {
      turns++
      last = text
      const usage = {
        input_tokens: TOKENS_PER_TURN + promptTokens,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 40 + Math.ceil(text.length / 2),
      }
      total.input_tokens += usage.input_tokens
      total.output_tokens += usage.output_tokens
      const content = [{ type: 'text', text }]
      const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: 'demo', content, usage }
      write({ type: 'assistant', message, session_id: session })
    },
    end: () => result({ subtype: 'success', is_error: false, result: last }),
    fail: (message) => result({ subtype: 'error_during_execution', is_error: true, errors: [message] }),
  }
}
