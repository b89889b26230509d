/** Amounts are stored in integer micro-dollars, so that the cost of a cheap run is not rounded to zero. */
export const MICROS_PER_CENT = 10_000

/** Converts micro-dollars to whole cents, rounded to the nearest, as the API returns them. */
export const toCents = (micros: number) => Math.round(micros / MICROS_PER_CENT)

/** Converts cents, possibly fractional, to micro-dollars. */
export const toMicros = (cents: number) => Math.round(cents * MICROS_PER_CENT)

/** Returns the UTC month of a timestamp, such as `2026-11`: the period of budgets. */
export const monthOf = (at: string) => at.slice(0, 7)

/** Formats cents as people read them: `$1.50`. */
export const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`

/** Formats micro-dollars as people read them: `$1.50`. */
export const toDollars = (micros: number) => dollars(toCents(micros))
