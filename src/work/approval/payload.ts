import { redact } from '../../access/redaction/redact.ts'
import { refuseSealed } from '../../access/redaction/sealed.ts'

/**
 * Returns a payload as its row stores it: the caller's fields, redacted, and
 * the server's fields.
 *
 * @param facts the server's fields, which replace those of the caller
 */
export function toStoredPayload(payload: Record<string, unknown>, facts: Record<string, unknown> = {}): string {
  refuseSealed(payload, 'payload')
  return JSON.stringify({ ...redact(payload), ...facts })
}
