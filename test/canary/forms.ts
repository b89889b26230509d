/**
 * Returns the encodings in which a secret can be stored: unchanged, in JSON,
 * URL-encoded, in hex, and in base64 of both alphabets, alone or as a part of
 * a longer text (`user:secret`) at each of the three alignments.
 */
export function formsOf(secret: Buffer): Buffer[] {
  const text = secret.toString()
  // Binary data has no escapes.
  const texts = Buffer.from(text).equals(secret) ? [JSON.stringify(text).slice(1, -1), encodeURIComponent(text)] : []
  const base64 = [0, 1, 2].flatMap((start) => {
    const whole = start + Math.floor((secret.length - start) / 3) * 3
    const core = secret.subarray(start, whole)
    return [core.toString('base64'), core.toString('base64url')]
  })
  const hex = secret.toString('hex')
  return [secret, ...[...new Set([...texts, hex, hex.toUpperCase(), ...base64])].map((form) => Buffer.from(form))]
}
