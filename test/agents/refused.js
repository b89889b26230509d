// Speaks runtimeA_local's stream: its provider refuses it until a moment, in seconds since 1970.
const [until] = process.argv.slice(2)
const session_id = '5f0c6a3e-5b0e-4a60-9c5a-0f4a3c2b1d00'
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
say({ type: 'system', subtype: 'init', session_id, model: 'claude-sonnet-5-5' })
if (until !== undefined) {
  say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: Number(until) }, session_id })
}
say({
  type: 'result',
  subtype: 'success',
  is_error: true,
  result: 'API Error: 429',
  api_error_status: 429,
  session_id,
  total_cost_usd: 0,
  usage: { input_tokens: 0, output_tokens: 0 },
})
process.exitCode = 1
