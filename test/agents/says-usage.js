// Speaks runtimeA_local's stream: two answers of a model, a while apart, and a result.
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const session_id = '5f0c6a3e-5b0e-4a60-9c5a-0f4a3c2b1d00'
const answer = (id, output_tokens) =>
  say({
    type: 'assistant',
    session_id,
    message: {
      id,
      model: 'demo-model',
      content: [{ type: 'text', text: `answer ${id}` }],
      usage: { input_tokens: 10, output_tokens },
    },
  })
say({ type: 'system', subtype: 'init', session_id, model: 'demo-model' })
answer('a', 20)
setTimeout(() => answer('b', 30), 600)
setTimeout(
  () =>
    say({
      type: 'result',
      subtype: 'success',
      is_error: false,
      session_id,
      total_cost_usd: 0.01,
      usage: { input_tokens: 20, output_tokens: 50 },
    }),
  700,
)
