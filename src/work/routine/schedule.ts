import { Cron } from 'croner'
import type { FieldError } from '../../platform/errors.ts'

/** When a routine comes: a cron expression in a time zone (null is UTC), or every so many seconds. One of them is set. */
export interface Schedule {
  cron: string | null
  timeZone: string | null
  intervalSec: number | null
}

/** In seconds: what comes more often is no work for agents, and a year is the longest. */
export const INTERVAL_SEC = { least: 60, most: 366 * 24 * 3600 }

/**
 * The first moment after another. A time that a spring change leaves out comes
 * at the change; one that an autumn change repeats comes once.
 *
 * @param from the moment an interval counts from, so that it keeps its phase
 * @returns undefined when there is none
 */
export function nextMoment(schedule: Schedule, after: string, from = after): string | undefined {
  if (schedule.intervalSec !== null) {
    const [start, step] = [Date.parse(from), schedule.intervalSec * 1_000]
    const passed = Math.max(0, Math.floor((Date.parse(after) - start) / step))
    return new Date(start + (passed + 1) * step).toISOString()
  }
  try {
    return cronOf(schedule).nextRun(new Date(after))?.toISOString()
  } catch {
    return undefined // the time zone was known when it was written, and is so no more
  }
}

/** What is wrong with a schedule, by field; nothing when it can be followed. */
export function scheduleFaults(schedule: Schedule): FieldError[] {
  const { cron, timeZone, intervalSec } = schedule
  const fault = (path: keyof Schedule, message: string) => [{ path, message }]
  if (cron !== null && intervalSec !== null)
    return fault('intervalSec', 'a routine has a cron expression or an interval')
  if (cron === null) {
    if (intervalSec === null) return fault('cron', 'say when: a cron expression, or intervalSec')
    if (timeZone !== null) return fault('timeZone', 'belongs to a cron expression; an interval has none')
    if (intervalSec < INTERVAL_SEC.least || intervalSec > INTERVAL_SEC.most) {
      return fault('intervalSec', `must be from ${INTERVAL_SEC.least} to ${INTERVAL_SEC.most} seconds`)
    }
    return []
  }
  if (timeZone !== null && !isTimeZone(timeZone)) {
    return fault('timeZone', `${timeZone} is no time zone; name one like Europe/Berlin or UTC`)
  }
  // Croner also takes a date, which comes once.
  if (/^\s*\d{4}-/.test(cron)) return fault('cron', 'is a date; a routine comes back, as in `0 9 * * 1`')
  try {
    return cronOf(schedule).nextRun() === null ? fault('cron', 'never comes: there is no such day') : []
  } catch (error) {
    return fault(
      'cron',
      `${(error as Error).message.replace(/^CronPattern: /, '')} (a cron expression has five fields, as in \`0 9 * * 1\`)`,
    )
  }
}

const cronOf = ({ cron, timeZone }: Schedule) =>
  new Cron(cron!, { paused: true, mode: '5-part', timezone: timeZone ?? 'UTC' })

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
