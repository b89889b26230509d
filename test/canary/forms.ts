/**
 * The forms in which a secret could lie around: as it is, in JSON,
 * URL-encoded, in hex, and in base64 of either alphabet, alone or as a part of
 * something longer (`user:secret`), which begins at any of three alignments.
 */
export function formsOf(secret: Buffer): Buffer[] {
  const text = secret.toString()
  // What is no text has no escapes.
  const texts = Buffer.from(text).equals(secret) ? [JSON.stringify(text).slice(1, -1), encodeURIComponent(text)] : []
  const base64 = [0, 1, 2].flatMap((start) => {
    const whole = start + Math.floor((secret.length - start) / 3) * 3
    const core = secret.subarray(start, whole)
    return [core.toString('base64'), core.toString('base64url')]
  })
  const hex = secret.toString('hex')
  return [secret, ...[...new Set([...texts, hex, hex.toUpperCase(), ...base64])].map((form) => Buffer.from(form))]
}
