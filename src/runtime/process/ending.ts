import type { ExitRecord } from './run-files.ts'

/** How a run's processes ended, or why they never started. */
export interface Ending {
  reason: ExitRecord['reason'] | 'not_started'
  exitCode: number | null
  signal: string | null
  error: { code: string; message: string } | null
  /** The last line of the program's standard error. */
  lastError?: string | null
  /** The time of the end, if known. A run can end while the server is down, long before a server records it. */
  at: string | null
}
