import { isDatabaseFault } from '../../platform/database/write-queue.ts'

/** A fault of the machine, not of the agent. It may be temporary, so the run is retried later. */
export interface SystemFault {
  code: string
  message: string
}

const FAULTS: Record<string, SystemFault> = {
  ENOSPC: { code: 'disk_full', message: 'The disk is full. Free some space.' },
  EDQUOT: { code: 'disk_full', message: 'The disk quota is used up. Free some space.' },
  EMFILE: { code: 'file_limit', message: 'The server has reached its limit of open files. Raise it (ulimit -n).' },
  ENFILE: { code: 'file_limit', message: 'The machine has reached its limit of open files.' },
  EAGAIN: {
    code: 'process_limit',
    message: 'The machine cannot start another process: a limit of processes is reached (ulimit -u).',
  },
  ENOMEM: { code: 'out_of_memory', message: 'The machine has no memory left to start a run.' },
  EROFS: { code: 'disk_read_only', message: 'The file system is read-only.' },
  EIO: { code: 'disk_error', message: 'The disk reports an input/output error.' },
}

/** Whether an error is a fault of the machine, such as a full disk, that any configuration can meet. */
export const isMachineFault = (error: unknown): boolean => codeOf(error) in FAULTS

const OTHER_CODE = 'system_error'

/**
 * Describes an error of the operating system or of the database, or returns
 * undefined for any other error (which is a bug).
 */
export function toSystemFault(error: unknown): SystemFault | undefined {
  const known = FAULTS[codeOf(error)]
  if (known) return { ...known, message: `${known.message}${placeOf(error)}` }
  if (isDatabaseFault(error))
    return { code: 'disk_error', message: `The database failed: ${(error as Error).message}.` }
  if (!(error instanceof Error && 'syscall' in error)) return undefined
  return {
    code: OTHER_CODE,
    message: `The operating system refused an operation that prepares the run: ${error.message}.`,
  }
}

const CODES = new Set([OTHER_CODE, ...Object.values(FAULTS).map((fault) => fault.code)])

/** Whether the error code of a run is that of a system fault. */
export const isSystemFaultCode = (code: string | null): boolean => code !== null && CODES.has(code)

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'disk_full' ? 'ENOSPC' : String(code)
}

function placeOf(error: unknown): string {
  const { path, syscall } = error as NodeJS.ErrnoException
  return path ? ` (${syscall} ${path})` : ''
}
