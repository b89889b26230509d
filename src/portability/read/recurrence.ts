import { isMapping, type Yaml } from '../../platform/source/yaml.ts'

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/**
 * Converts a recurrence of the package format (`schedule.recurrence`) to a cron
 * expression. Without a time, the time of `startsAt` counts.
 *
 * @returns null if no cron expression means the same
 */
export function cronOfRecurrence(schedule: Yaml): string | null {
  const { recurrence } = schedule
  if (!isMapping(recurrence)) return null
  const { frequency, interval = 1, until, count, ordinalWeekdays, time, weekdays, monthDays, months } = recurrence
  if (interval !== 1 || [until, count, ordinalWeekdays].some((limit) => limit !== undefined)) return null
  const start = startOf(schedule.startsAt)
  const { hour, minute = 0 } = isMapping(time) ? time : { hour: start?.hour, minute: start?.minute }
  const days = listOf(weekdays, (day) =>
    WEEKDAYS.findIndex((name) => name.slice(0, 3) === String(day).toLowerCase().slice(0, 3)),
  )
  const dates = listOf(monthDays, Number)
  const parts = {
    hourly: [minute, '*', '*', '*', '*'],
    daily: [minute, hour, '*', '*', days ?? '*'],
    weekly: [minute, hour, '*', '*', days ?? start?.weekday],
    monthly: [minute, hour, dates ?? start?.date, listOf(months, Number) ?? '*', '*'],
    yearly: [minute, hour, dates ?? start?.date, listOf(months, Number) ?? start?.month, '*'],
  }[String(frequency)]
  return parts === undefined || parts.includes(undefined) ? null : parts.join(' ')
}

/** Reads the wall-clock time of a timestamp. The time zone of the schedule applies to it. */
function startOf(startsAt: unknown) {
  const found = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})/.exec(String(startsAt))
  if (!found) return undefined
  const [year, month, date, hour, minute] = found.slice(1).map(Number) as [number, number, number, number, number]
  return { month, date, hour, minute, weekday: new Date(Date.UTC(year, month - 1, date)).getUTCDay() }
}

/** Joins a list of cron values. Invalid values remain in the result, so the validation of the expression reports them. */
const listOf = (values: unknown, toNumber: (value: unknown) => number): string | undefined =>
  Array.isArray(values) && values.length > 0 ? values.map(toNumber).join(',') : undefined
