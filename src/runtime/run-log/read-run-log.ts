import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { runFolder } from '../process/run-files.ts'
import { type LogPart, readLog } from './read-log.ts'

/** Reads the log of a run from an offset, like `readLog`. In place of a log that retention deleted it returns a sentence. */
export function readRunLog(ctx: Context, run: RunRow, offset: number, maxBytes: number): LogPart {
  if (run.log_deleted_at === null) return readLog(runFolder(ctx.config, run.id), offset, maxBytes)
  // The sentence takes the place of all bytes, so that a client that goes on at the next offset reads it once.
  const nextOffset = Math.max(offset, run.log_bytes ?? 0)
  const day = run.log_deleted_at.slice(0, 10)
  const text = `[The log of this run was deleted on ${day}, because the server keeps logs for a limited time.]\n`
  return { text: nextOffset > offset ? text : '', nextOffset, isComplete: true }
}
