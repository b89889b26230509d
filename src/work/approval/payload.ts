import { redact } from '../../access/redaction/redact.ts'
import { refuseSealed } from '../../access/redaction/sealed.ts'

/**
 * Returns a payload as its row stores it: what the caller sent, redacted, and
 * what the server says of it.
 *
 * @param facts the server's own part; it replaces what the caller says of the same
 */
export function toStoredPayload(payload: Record<string, unknown>, facts: Record<string, unknown> = {}): string {
  refuseSealed(payload, 'payload')
  return JSON.stringify({ ...redact(payload), ...facts })
}
