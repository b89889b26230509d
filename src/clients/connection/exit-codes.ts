import { AppError, type ErrorCode } from '../../platform/errors.ts'

/** The exit codes of the program, which let scripts distinguish the cases. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  unreachable: 3,
  notAllowed: 4,
  notFound: 5,
  conflict: 6,
  /** The action needs an approval of the board or a higher budget. */
  gated: 7,
  timeout: 8,
  /** EX_TEMPFAIL: another server has this data directory. */
  taken: 75,
  /** Ctrl-C at a prompt: 128 plus the number of SIGINT, as shells report it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A failure with a specific exit code. The message is one line that includes the remedy. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode
  if (error instanceof AppError) return exitCodeOfResponse(error.code, error.status)
  return EXIT.failure
}

const GATED: readonly ErrorCode[] = ['strategy_not_approved', 'agent_not_ready', 'budget_exceeded']

const EXIT_OF_STATUS: Record<number, ExitCode> = {
  400: EXIT.usage,
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  404: EXIT.notFound,
  405: EXIT.usage,
  409: EXIT.conflict,
  413: EXIT.usage,
  415: EXIT.usage,
}

/**
 * Returns the exit code for an error response.
 *
 * @param code the error code in the body; a newer server may send an unknown one
 */
export function exitCodeOfResponse(code: string, status: number): ExitCode {
  if ((GATED as readonly string[]).includes(code)) return EXIT.gated
  return EXIT_OF_STATUS[status] ?? (status < 400 ? EXIT.ok : EXIT.failure)
}

/** Formats an error as one line. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replaceAll(/\s*\n\s*/g, ' ')
}
