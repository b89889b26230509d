import type { Adapter, Fact, SessionState } from './adapter.ts'

/** A session as it is kept between runs, with what it was made under. */
export interface KeptSession extends SessionState {
  cwd: string
  /** A hash of the instructions' text, or null when there were none. */
  instructionsHash: string | null
}

export interface SessionSetting {
  cwd: string
  instructionsHash: string | null
  flags: ReadonlySet<string> | null
}

/**
 * The session that the next run continues, or null when it must start fresh:
 * a program looks for its sessions under the working directory, and a resumed
 * session keeps the instructions it began with where these are a file of
 * their own, unless the program can be told otherwise.
 */
export function sessionToResume(
  adapter: Pick<Adapter, 'resumes' | 'instructions'>,
  kept: KeptSession | null,
  now: SessionSetting,
): SessionState | null {
  if (!kept || !adapter.resumes || kept.cwd !== now.cwd) return null
  const isStale = adapter.instructions === 'file' && kept.instructionsHash !== now.instructionsHash
  if (isStale && !now.flags?.has('--system-prompt-snapshot')) return null
  return { id: kept.id, totals: kept.totals }
}

/**
 * Whether an error says that the session is longer than the model's context:
 * to resume it fails again, however often.
 */
export const isContextOverflow = (message: string): boolean =>
  /context_length_exceeded|context window (?:exceeded|is full)|ran out of room in the model's context window|start a new thread|prompt is too long/i.test(
    message,
  )

/** Reports that the next run cannot resume the session: the program does not know it, or it is full. */
export const deadSession = (message: string): Fact[] => [
  { kind: 'dead_session' },
  { kind: 'outcome', ok: false, code: isContextOverflow(message) ? 'context_overflow' : 'dead_session', message },
]
