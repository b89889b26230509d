/** The source of the current time. Tests use their own. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
