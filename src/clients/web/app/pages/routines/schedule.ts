/** A schedule in the form. `custom` is a cron expression. */
export interface Choice {
  every: 'day' | 'workday' | 'week' | 'month' | 'interval' | 'custom'
  /** The time, such as `09:00`. */
  time: string
  /** The day of the week; 0 is Sunday, as in cron. */
  weekday: string
  day: string
  hours: string
  cron: string
}

export const DEFAULT: Choice = {
  every: 'workday',
  time: '09:00',
  weekday: '1',
  day: '1',
  hours: '6',
  cron: '0 9 * * 1-5',
}

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

interface Stored {
  cron: string | null
  intervalSec: number | null
}

/** Converts a schedule to a cron expression. */
export function toSchedule(choice: Choice): Stored {
  const [hour = '9', minute = '0'] = choice.time.split(':').map((part) => String(Number(part)))
  switch (choice.every) {
    case 'day':
      return { cron: `${minute} ${hour} * * *`, intervalSec: null }
    case 'workday':
      return { cron: `${minute} ${hour} * * 1-5`, intervalSec: null }
    case 'week':
      return { cron: `${minute} ${hour} * * ${choice.weekday}`, intervalSec: null }
    case 'month':
      return { cron: `${minute} ${hour} ${choice.day} * *`, intervalSec: null }
    case 'interval':
      return { cron: null, intervalSec: Math.round(Number(choice.hours) * 3_600) }
    case 'custom':
      return { cron: choice.cron.trim(), intervalSec: null }
  }
}

/** Converts a cron expression to a schedule. */
export function toChoice({ cron, intervalSec }: Stored): Choice {
  if (cron === null) return { ...DEFAULT, every: 'interval', hours: String((intervalSec ?? 3_600) / 3_600) }
  const found = /^(\d+) (\d+) (\*|\d+) \* (\*|1-5|[0-6])$/.exec(cron)
  if (!found) return { ...DEFAULT, every: 'custom', cron }
  const [, minute, hour, day, weekday] = found as unknown as [string, string, string, string, string]
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (day !== '*')
    return weekday === '*' ? { ...DEFAULT, every: 'month', time, day, cron } : { ...DEFAULT, every: 'custom', cron }
  if (weekday === '*') return { ...DEFAULT, every: 'day', time, cron }
  if (weekday === '1-5') return { ...DEFAULT, every: 'workday', time, cron }
  return { ...DEFAULT, every: 'week', time, weekday, cron }
}

/** Describes a schedule: `On workdays at 09:00`, `Every 6 h`. */
export function describe(stored: Stored): string {
  const choice = toChoice(stored)
  switch (choice.every) {
    case 'day':
      return `Every day at ${choice.time}`
    case 'workday':
      return `On workdays at ${choice.time}`
    case 'week':
      return `On ${WEEKDAYS[Number(choice.weekday)]}s at ${choice.time}`
    case 'month':
      return `On day ${choice.day} of the month at ${choice.time}`
    case 'interval':
      return `Every ${choice.hours} h`
    case 'custom':
      return choice.cron
  }
}
