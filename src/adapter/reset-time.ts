/** Whether a program's error message reports an exhausted quota, in a wording that was observed. */
export const isUsageLimit = (message: string): boolean =>
  /\b(?:usage|session|weekly|5-hour) limit reached|\b(?:hit|reached) your (?:[\w-]+ )?limit|\bout of (?:extra )?usage/i.test(
    message,
  )

/** Whether a program's error message reports a rate limit: HTTP status 429. */
export const isRateLimit = (message: string): boolean =>
  /\b(?:status(?: code)?|error|http)[: ]*429\b|\b429 too many requests\b|\btoo many requests\b/i.test(message)

/**
 * Parses the time (ISO 8601) at which a quota is available again. Returns null
 * if the message contains none of the observed forms: `...|1760000000`,
 * `try again in 2 days 3 hours 14 minutes`, `try again at Aug 8th, 2026 12:30 PM`,
 * `resets Feb 3 at 10am`, `resets 3pm (Europe/Copenhagen)`. A time without a time
 * zone is in the local zone.
 *
 * @param now the time of the message, in milliseconds since 1970
 */
export function resetTime(message: string, now: number): string | null {
  try {
    const moment = epoch(message) ?? afterSpan(message, now) ?? onDate(message, now) ?? atTime(message, now)
    return moment === null ? null : new Date(moment).toISOString()
  } catch {
    return null // an unknown time zone, or a date out of range
  }
}

/** Converts seconds since 1970 to ISO 8601. Returns null for any other value. */
export const fromEpochSeconds = (seconds: unknown): string | null =>
  typeof seconds === 'number' && seconds > 1e9 && seconds < 1e10 ? new Date(seconds * 1000).toISOString() : null

const epoch = (message: string): number | null => {
  const found = /\|(\d{10})(\d{3})?\b/.exec(message)
  return found ? Number(found[1]) * 1000 : null
}

const SPANS: Record<string, number> = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 }

function afterSpan(message: string, now: number): number | null {
  const span = /try again in ((?:\d{1,6} (?:day|hour|minute|second)s?[ ,]*)+)/i.exec(message)?.[1]
  if (!span) return null
  let moment = now
  for (const [, count, unit] of span.matchAll(/(\d+) (day|hour|minute|second)/gi)) {
    moment += Number(count) * SPANS[unit!.toLowerCase()]!
  }
  return moment
}

const CLOCK = String.raw`(\d{1,2})(?::(\d\d))? ?([ap])m\b(?: \(([\w/+-]+)\))?`
const DATED = new RegExp(
  String.raw`(?:try again|resets?)(?: at)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}) )?(?:at )?${CLOCK}`,
  'i',
)
const TIMED = new RegExp(`(?:try again|resets?)(?: at)? ${CLOCK}`, 'i')
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

function onDate(message: string, now: number): number | null {
  const found = DATED.exec(message)
  if (!found) return null
  const [, month, day, year, hour, minute, half, zone] = found
  const at = (y: number) =>
    inZone(Date.UTC(y, MONTHS.indexOf(month!.toLowerCase()), Number(day), hours(hour, half), Number(minute ?? 0)), zone)
  if (year) return at(Number(year))
  const thisYear = new Date(now).getUTCFullYear()
  // Without a year, the next such date applies. A day of tolerance covers a message that is read late.
  return at(thisYear) > now - SPANS.day! ? at(thisYear) : at(thisYear + 1)
}

function atTime(message: string, now: number): number | null {
  const found = TIMED.exec(message)
  if (!found) return null
  const [, hour, minute, half, zone] = found
  const today = new Date(now + offset(now, zone))
  today.setUTCHours(hours(hour, half), Number(minute ?? 0), 0, 0)
  const moment = inZone(today.getTime(), zone)
  return moment > now ? moment : moment + SPANS.day!
}

const hours = (hour: string | undefined, half: string | undefined): number =>
  (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)

/** Converts a local time of a zone (given as if it were UTC) to milliseconds since 1970. */
const inZone = (wall: number, zone: string | undefined): number => wall - offset(wall, zone)

/** Returns the offset of a zone from UTC at a time, in milliseconds. */
function offset(moment: number, zone: string | undefined): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const parts = new Map(format.formatToParts(moment).map((part) => [part.type, Number(part.value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const displayed = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  return displayed - Math.floor(moment / 60_000) * 60_000
}
