/** The log for the operator: one line per entry, on standard error. */
export interface Log {
  info(message: string, details?: Record<string, unknown>): void
  warn(message: string, details?: Record<string, unknown>): void
  error(message: string, details?: Record<string, unknown>): void
}

/** Logs one line per entry. Never pass it a header, a body or an environment: those contain secrets. */
export function createLog(write: (line: string) => void, now = () => new Date()): Log {
  const entry = (level: string) => (message: string, details?: Record<string, unknown>) =>
    write(`${now().toISOString()} ${level} ${message}${details ? ` ${JSON.stringify(details)}` : ''}\n`)
  return { info: entry('info'), warn: entry('warn'), error: entry('error') }
}
