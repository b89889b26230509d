import { Cron } from 'croner'
import type { FieldError } from '../../platform/errors.ts'

/**
 * A schedule: a cron expression in a time zone (null is UTC), or an interval in
 * seconds. At most one of them is set;
 * with neither, the routine is only run by hand.
 */
export interface Schedule {
  cron: string | null
  timeZone: string | null
  intervalSec: number | null
}

/** The allowed intervals in seconds: a minute to a year. */
export const INTERVAL_SEC = { least: 60, most: 366 * 24 * 3600 }

/**
 * Returns the next scheduled time. A local time that a change to summer time
 * skips runs at the change; one that a change back repeats runs once.
 *
 * @param from the start of the interval, which determines its phase
 * @returns undefined if there is none
 */
export function nextMoment(schedule: Schedule, after: string, from = after): string | undefined {
  if (schedule.cron === null && schedule.intervalSec === null) return undefined
  if (schedule.intervalSec !== null) {
    const [start, step] = [Date.parse(from), schedule.intervalSec * 1_000]
    const passed = Math.max(0, Math.floor((Date.parse(after) - start) / step))
    return new Date(start + (passed + 1) * step).toISOString()
  }
  try {
    return cronOf(schedule).nextRun(new Date(after))?.toISOString()
  } catch {
    return undefined // the time zone was valid when the schedule was saved, and no longer is
  }
}

/** Returns the errors of a schedule, by field; empty if it is valid. */
export function scheduleFaults(schedule: Schedule): FieldError[] {
  const { cron, timeZone, intervalSec } = schedule
  const fault = (path: keyof Schedule, message: string) => [{ path, message }]
  if (cron !== null && intervalSec !== null) return fault('intervalSec', 'must not be set together with cron')
  if (cron === null) {
    if (timeZone !== null) return fault('timeZone', 'requires a cron expression; an interval has no time zone')
    if (intervalSec === null) return []
    if (intervalSec < INTERVAL_SEC.least || intervalSec > INTERVAL_SEC.most) {
      return fault('intervalSec', `must be from ${INTERVAL_SEC.least} to ${INTERVAL_SEC.most} seconds`)
    }
    return []
  }
  if (timeZone !== null && !isTimeZone(timeZone)) {
    return fault('timeZone', `${timeZone} is not a time zone; use a name such as Europe/Berlin or UTC`)
  }
  // Croner also accepts a date, which runs once.
  if (/^\s*\d{4}-/.test(cron))
    return fault('cron', 'is a date, but a routine recurs; use a cron expression such as `0 9 * * 1`')
  try {
    return cronOf(schedule).nextRun() === null ? fault('cron', 'never occurs: there is no such day') : []
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
