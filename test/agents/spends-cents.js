// Speaks runtimeA_local's stream: spends a cent with every message, again and again. `deaf` ignores SIGTERM.
const [pauseMs = '40', deaf] = process.argv.slice(2)
if (deaf === 'deaf') process.on('SIGTERM', () => {})
const session_id = '5f0c6a3e-5b0e-4a60-9c5a-0f4a3c2b1d00'
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
say({ type: 'system', subtype: 'init', session_id, model: 'claude-sonnet-5-5' })
let cents = 0
setInterval(() => {
  cents++
  say({
    type: 'assistant',
    session_id,
    message: {
      id: `message ${cents}`,
      model: 'claude-sonnet-5-5',
      content: [{ type: 'text', text: `${cents} cents` }],
      usage: { input_tokens: 0, output_tokens: 1000 },
    },
  })
}, Number(pauseMs))
