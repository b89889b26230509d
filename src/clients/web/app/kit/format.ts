/** Creates a formatter on its first use. Creating one takes milliseconds, and the first view needs few of them. */
function onDemand<T>(create: () => T): () => T {
  let created: T | undefined
  return () => {
    created ??= create()
    return created
  }
}

const dates = (options: Intl.DateTimeFormatOptions) => onDemand(() => new Intl.DateTimeFormat(undefined, options))

const compact = onDemand(() => new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }))
const exact = dates({ dateStyle: 'medium', timeStyle: 'medium' })
const day = dates({ day: 'numeric', month: 'short' })
const dayOfYear = dates({ day: 'numeric', month: 'short', year: 'numeric' })

/**
 * Formats a number: `12,400`. It does not use `Intl.NumberFormat`, because the
 * first one of a page takes 10 ms, and the first view needs it.
 */
export const number = (value: number) => group(String(value))

/** Separates the digits before the decimal point in groups of three. */
const group = (digits: string) => digits.replace(/\d+/, (whole) => whole.replaceAll(/\B(?=(\d{3})+$)/g, ','))

/** Formats an amount: `$1.24`. Amounts below one cent have up to four decimals. */
export function money(cents: number): string {
  const dollars = Math.abs(cents) / 100
  const isFine = dollars > 0 && dollars < 0.01
  const digits = isFine ? dollars.toFixed(4).replace(/0{1,2}$/, '') : group(dollars.toFixed(2))
  return `${cents < 0 ? '-' : ''}$${digits}`
}

/** Formats an amount with its budget: `$1.24 of $20.00`, or without it if there is none. */
export const spendOf = ({
  spentMonthlyCents,
  budgetMonthlyCents,
}: {
  spentMonthlyCents: number
  budgetMonthlyCents: number
}) =>
  budgetMonthlyCents === 0 ? money(spentMonthlyCents) : `${money(spentMonthlyCents)} of ${money(budgetMonthlyCents)}`

/** Formats a number of tokens: `12.4K`. */
export const short = (value: number) => compact().format(value)

/** Formats a size: `812 B`, `3.0 KB`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Formats a duration: `38 ms`, `4.2 s`, `3 min`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1_000
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Formats a time relative to now: `now`, `5 min ago`, `3 h ago`, `4 Nov`, or `in 5 min`. */
export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at)
  const span = Math.abs(ms)
  const say = (text: string) => (ms < 0 ? `in ${text}` : `${text} ago`)
  if (span < 45_000) return ms < -5_000 ? 'in under a minute' : 'now'
  if (span < 3_600_000) return say(`${Math.max(1, Math.round(span / 60_000))} min`)
  if (span < 86_400_000) return say(`${Math.round(span / 3_600_000)} h`)
  if (span < 7 * 86_400_000) return say(`${Math.round(span / 86_400_000)} d`)
  const date = new Date(at)
  return (date.getFullYear() === new Date(now).getFullYear() ? day : dayOfYear)().format(date)
}

export const exactTime = (at: string) => exact().format(new Date(at))

/** Formats a status: `in_progress` becomes `In progress`. */
export const words = (name: string) => {
  const text = name.replaceAll(/[_.]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Formats a number with its noun: `1 run`, `2 runs`. */
export const plural = (count: number, noun: string, more = `${noun}s`) =>
  `${number(count)} ${count === 1 ? noun : more}`

/** Returns the beginning of a Markdown text without its markup. */
export const plainText = (markdown: string): string => markdown.replaceAll(/[*_`#>]+/g, '').slice(0, 300)
