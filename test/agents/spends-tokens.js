// Speaks runtimeB_local's stream and keeps a session file as that program does: each call of the model writes 1,000
// tokens, a cent of gpt-5, which only the session file tells.
// It always works in the same thread. Usage: spends-tokens.js <pause in ms> <calls, or 0 for no end>
import { appendFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const [pauseMs, calls] = process.argv.slice(2)
const home = process.env.CODEX_HOME ?? path.join(process.env.HOME, '.codex')
const thread = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const day = path.join(home, 'sessions/2026/11/22')
const file = globSync(path.join(home, `sessions/**/*${thread}.jsonl`))[0] ?? path.join(day, `rollout-${thread}.jsonl`)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const keep = (type, payload) => appendFileSync(file, `${JSON.stringify({ timestamp: 'now', type, payload })}\n`)

mkdirSync(day, { recursive: true })
keep('session_meta', { id: thread })
const total = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 }
for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
  Object.assign(total, JSON.parse(line).payload.info?.total_token_usage)
}
const tokenCount = () => keep('event_msg', { type: 'token_count', info: { total_token_usage: total } })

say({ type: 'thread.started', thread_id: thread })
say({ type: 'turn.started' })
keep('turn_context', { model: 'gpt-5' })
tokenCount() // a resumed thread begins by saying what it has used
for (let call = 1; ; call++) {
  await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)))
  total.output_tokens += 1000
  tokenCount()
  if (call === Number(calls)) break
}
say({ type: 'turn.completed', usage: total })
