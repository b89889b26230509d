import type { Fact } from './adapter.ts'
import { unauthorized } from './refusals.ts'
import { asCount, asText, cut, type Json } from './usage.ts'

/** The longest wait with a live process, in milliseconds. For a longer one, the run ends and its agent is held. */
const LONGEST_WAIT_MS = 60_000

/**
 * Parses a `system/api_retry` line: the provider refused a request, and the
 * program retries it up to ten times. Refused credentials end the run, because a
 * retry cannot succeed.
 *
 * @param now milliseconds since 1970
 */
export function onRetry(line: Json, now: number): Fact[] {
  const status = asCount(line.error_status)
  const cause = [status || '', cut(asText(line.error), 200)].filter(Boolean).join(' ')
  if (status === 401 || status === 403) {
    return [unauthorized(cause), { kind: 'give_up' }]
  }
  const waitMs = asCount(line.retry_delay_ms)
  if (status === 429 && waitMs > LONGEST_WAIT_MS) {
    return [
      { kind: 'rate_limited', until: new Date(now + waitMs).toISOString() },
      { kind: 'outcome', ok: false, code: 'rate_limited', message: `The provider refuses requests: ${cause}.` },
      { kind: 'give_up' },
    ]
  }
  const which = `${asCount(line.attempt)} of ${asCount(line.max_retries)}`
  return [{ kind: 'retrying', text: `retrying ${which}${cause ? `: ${cause}` : ''}` }]
}
