import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { runFolder } from '../process/run-files.ts'
import { type LogPart, readLog } from './read-log.ts'

/** Reads a part of a run's log, like `readLog`. For a log that retention deleted, it returns a sentence instead. */
export function readRunLog(ctx: Context, run: RunRow, offset: number, maxBytes: number): LogPart {
  if (run.log_deleted_at === null) return readLog(runFolder(ctx.config, run.id), offset, maxBytes)
  // The next offset is the end of the log, so that a client reads the sentence only once.
  const nextOffset = Math.max(offset, run.log_bytes ?? 0)
  const day = run.log_deleted_at.slice(0, 10)
  const text = `[The log of this run was deleted on ${day}, because the server keeps logs for a limited time.]\n`
  return { text: nextOffset > offset ? text : '', nextOffset, isComplete: true }
}
