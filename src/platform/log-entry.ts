/** The levels of the log, from the most to the least detailed. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** A line of the log file, as pino writes it. Other fields are the details of the entry. */
export interface LogEntry {
  level: LogLevel
  time: string
  msg: string
  [detail: string]: unknown
}

/** Reads a line of the log file. Returns undefined if it is not an entry. */
export function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const entry = JSON.parse(line)
    return LOG_LEVELS.includes(entry.level) && typeof entry.msg === 'string' ? entry : undefined
  } catch {
    return undefined
  }
}

/** Whether a level is at least as severe as another one. */
export const isAtLeast = (level: LogLevel, least: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)

/** Formats an entry for people: time, level, message, and the details as JSON. */
export function formatEntry({ level, time, msg, ...details }: LogEntry): string {
  return `${time} ${level} ${msg}${Object.keys(details).length > 0 ? ` ${JSON.stringify(details)}` : ''}`
}
