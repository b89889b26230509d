/** The lifetimes of a credential, in days. */
export const EXPIRIES = [
  { value: '30', label: '30 days' },
  { value: '7', label: '7 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '', label: 'Until it is revoked' },
] as const

export type Expiry = (typeof EXPIRIES)[number]['value']

const DAY_MS = 86_400_000

/** @returns the expiry time of a credential that is created now; null for never */
export const expiryAt = (days: Expiry) =>
  days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
