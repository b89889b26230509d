import type { Adapter, Fact, SessionState } from './adapter.ts'

/** A stored session, with the directory and the instructions of its last run. */
export interface StoredSession extends SessionState {
  cwd: string
  /** A hash of the instructions, or null if there were none. */
  instructionsHash: string | null
}

/** The circumstances of the next run that decide whether it can resume a session. */
export interface SessionSetting {
  cwd: string
  instructionsHash: string | null
  flags: ReadonlySet<string> | null
}

/**
 * Returns the session that the next run resumes, or null if it must start a new
 * one. Programs find their sessions by the working directory. A resumed session
 * uses its original instructions if these are a separate file, unless the
 * program has an option against it.
 */
export function sessionToResume(
  adapter: Pick<Adapter, 'resumes' | 'instructions'>,
  stored: StoredSession | null,
  now: SessionSetting,
): SessionState | null {
  if (!stored || !adapter.resumes || stored.cwd !== now.cwd) return null
  const isStale = adapter.instructions === 'file' && stored.instructionsHash !== now.instructionsHash
  if (isStale && !now.flags?.has('--system-prompt-snapshot')) return null
  return { id: stored.id, totals: stored.totals }
}

/**
 * Whether an error message reports that the session exceeds the model's context.
 * Every further attempt to resume such a session fails.
 */
export const isContextOverflow = (message: string): boolean =>
  /context_length_exceeded|context window (?:exceeded|is full)|ran out of room in the model's context window|start a new thread|prompt is too long|input token count \(\d+\) exceeds the maximum/i.test(
    message,
  )

/** Returns the facts of a session that cannot be resumed: the program does not know it, or it is full. */
export const deadSession = (message: string): Fact[] => [
  { kind: 'dead_session' },
  { kind: 'outcome', ok: false, code: isContextOverflow(message) ? 'context_overflow' : 'dead_session', message },
]
