// Speaks runtimeA_local's stream: reports its result, and does not exit, as with a process in the background.
// Usage: lingers.js [give-up | retry]: the provider refuses its credentials, or is overloaded, and it goes on trying.
const session_id = '5f0c6a3e-5b0e-4a60-9c5a-0f4a3c2b1d00'
const say = (line) => process.stdout.write(`${JSON.stringify({ ...line, session_id })}\n`)
say({ type: 'system', subtype: 'init', model: 'claude-sonnet-5-5' })
const usage = { input_tokens: 20, output_tokens: 50 }
const retry = (attempt, error_status, error) =>
  say({ type: 'system', subtype: 'api_retry', attempt, max_retries: 10, retry_delay_ms: 500, error_status, error })
if (process.argv[2] === 'give-up') {
  retry(1, 401, 'authentication_error')
} else if (process.argv[2] === 'retry') {
  retry(4, 529, 'overloaded_error')
} else {
  say({ type: 'stream_event', event: { type: 'content_block_delta' } })
  say({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', total_cost_usd: 0.01, usage })
}
setInterval(() => {}, 60_000)
