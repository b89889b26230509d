import { redact } from '../../access/redaction/redact.ts'
import { refuseSealed } from '../../access/redaction/sealed.ts'

/**
 * A payload as its row keeps it: just what reads show. Nothing ever needs the
 * rest, so it is not even sealed.
 */
export function toStoredPayload(payload: Record<string, unknown>): string {
  refuseSealed(payload, 'payload')
  return JSON.stringify(redact(payload))
}
