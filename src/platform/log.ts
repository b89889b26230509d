import { pino } from 'pino'
import type { LogLevel } from './log-entry.ts'

/** The structured log for the operator. */
export interface Log {
  debug(message: string, details?: Record<string, unknown>): void
  info(message: string, details?: Record<string, unknown>): void
  warn(message: string, details?: Record<string, unknown>): void
  error(message: string, details?: Record<string, unknown>): void
  /** Whether entries of a level are written. Check this before you collect details that take time to compute. */
  isEnabled(level: LogLevel): boolean
}

interface LogOptions {
  /** Entries of lower levels are dropped. */
  level?: LogLevel
  now?: () => Date
}

/**
 * Creates a log that writes each entry as one line of JSON. Never pass it a
 * header, a body or an environment: those contain secrets.
 */
export function createLog(
  write: (line: string) => void,
  { level: least = 'info', now = () => new Date() }: LogOptions = {},
): Log {
  const logger = pino(
    {
      level: least,
      base: null,
      timestamp: () => `,"time":"${now().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    { write },
  )
  const entry = (level: LogLevel) => (message: string, details?: Record<string, unknown>) =>
    details ? logger[level](details, message) : logger[level](message)
  return {
    debug: entry('debug'),
    info: entry('info'),
    warn: entry('warn'),
    error: entry('error'),
    isEnabled: (level) => logger.isLevelEnabled(level),
  }
}
