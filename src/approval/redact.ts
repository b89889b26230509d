const SECRET_KEY =
  /secret|token|password|passwd|credential|private_?key|api_?key|access_?key|^auth$|authorization|cookie/i

/** Shown in place of what looks like a secret. */
export const REDACTED = '***REDACTED***'

/**
 * Copies a JSON value without its secrets: every value of an `env`, and every
 * value whose key looks like a secret's. A `{ "$secret": name }` stays, as it is
 * a name only, and so do numbers: `maxTokens` is none.
 */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === 'env') return [key, redactEvery(inner)]
      return [key, key !== '$secret' && SECRET_KEY.test(key) ? hide(inner) : redact(inner)]
    }),
  )
}

function redactEvery(env: unknown): unknown {
  if (typeof env !== 'object' || env === null || Array.isArray(env)) return hide(env)
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, hide(value)]))
}

function hide(value: unknown): unknown {
  const isName = typeof value === 'object' && value !== null && Object.keys(value).join() === '$secret'
  return value === null || isName || typeof value === 'number' || typeof value === 'boolean' ? value : REDACTED
}
