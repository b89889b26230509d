/** Money is kept in integer micro-dollars, so that no cheap run rounds to zero. */
export const MICROS_PER_CENT = 10_000

/** Micro-dollars as whole cents, as the API shows spend: rounded to the nearest. */
export const toCents = (micros: number) => Math.round(micros / MICROS_PER_CENT)

/** Cents, possibly fractional, as micro-dollars. */
export const toMicros = (cents: number) => Math.round(cents * MICROS_PER_CENT)

/** The UTC month of a moment, `2026-11`: the period that budgets are counted in. */
export const monthOf = (at: string) => at.slice(0, 7)
