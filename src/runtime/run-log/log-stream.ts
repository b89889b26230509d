import { type FSWatcher, watch } from 'node:fs'
import type { Input } from '../../access/route.ts'
import { frame, keepAuthorized } from '../../http/sse.ts'
import { findRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { logFolder, runFolder } from '../process/run-files.ts'
import { readRunLog } from './read-run-log.ts'

/** How much of a log one event carries, in bytes; also how much may wait for a client. */
const PART_BYTES = 64 * 1024

/**
 * A run's log from an offset on, as the bytes of an event stream: `log` events
 * while it grows, whose id is the offset behind them, then one `end`. Nothing
 * is read before the client has taken what came before, so a client that is
 * slow costs no memory; one that takes nothing for two heartbeats is dropped.
 */
export function streamLog(
  ctx: Context,
  runId: string,
  from: number,
  { drop, isStillAuthorized }: Pick<Input, 'drop' | 'isStillAuthorized'>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const news = createNews(ctx, runId)
  let offset = from
  let stalled = 0
  let endChecks = () => {}
  const stop = () => {
    endChecks()
    news.close()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          stop()
          controller.close()
        }
        endChecks = keepAuthorized(isStillAuthorized, {
          onHeartbeat() {
            // A system without a watcher left to give tells nothing by itself.
            news.look()
            stalled = controller.desiredSize! > 0 ? 0 : stalled + 1
            if (stalled > 1) {
              end()
              drop()
            } else if (stalled === 0) controller.enqueue(encoder.encode(': alive\n\n'))
          },
          onRefused: end,
        })
        controller.enqueue(encoder.encode(': watching\n\n'))
      },
      async pull(controller) {
        for (;;) {
          if (news.isClosed()) return
          news.clear()
          const run = findRun(ctx.db, { id: runId })
          if (!run) {
            stop()
            controller.close()
            return
          }
          const part = readRunLog(ctx, run, offset, PART_BYTES)
          if (part.nextOffset > offset) {
            offset = part.nextOffset
            controller.enqueue(encoder.encode(frame({ id: offset, type: 'log', data: { text: part.text, offset } })))
            return
          }
          // The run was read before its log, so the log of one that has ended is whole.
          if (run.finished_at !== null) {
            const { status, exit_code, signal, error, error_code } = run
            const data = { runId, status, exitCode: exit_code, signal, error, errorCode: error_code }
            controller.enqueue(encoder.encode(frame({ id: offset, type: 'end', data })))
            stop()
            controller.close()
            return
          }
          await news.next()
          if (news.isOver()) {
            stop()
            controller.close()
            return
          }
        }
      },
      cancel: stop,
    },
    { highWaterMark: PART_BYTES, size: (chunk) => chunk.byteLength },
  )
}

/**
 * Tells when there may be more of a run's log: the system says when its files
 * grow, the server's own events when the run starts and ends.
 */
function createNews(ctx: Context, runId: string) {
  const runDir = runFolder(ctx.config, runId)
  const watchers = new Map<string, FSWatcher>()
  let isNew = true
  let isOver = false
  let isClosed = false
  let tell = () => {}

  const note = () => {
    isNew = true
    tell()
  }
  /** Watches a folder once it is there. */
  const watchFolder = (folder: string, onChange: () => void) => {
    if (watchers.has(folder) || isClosed) return
    try {
      const watcher = watch(folder, onChange)
      watcher.on('error', () => watcher.close())
      watchers.set(folder, watcher)
      note()
    } catch {
      // It is not there yet: whoever makes it is watched, or an event of the run follows.
    }
  }
  const look = () => {
    watchFolder(runDir, () => watchFolder(logFolder(runDir), note))
    watchFolder(logFolder(runDir), note)
  }
  const unsubscribe = ctx.events.subscribe(
    ({ type, data }) => {
      if (!type.startsWith('run.')) return
      const { runId: about, entityId } = data as { runId?: string; entityId?: string }
      if (about !== runId && entityId !== runId) return
      look()
      note()
    },
    () => {
      isOver = true
      note()
    },
  )
  look()

  return {
    look() {
      look()
      note()
    },
    clear() {
      isNew = false
    },
    /** Resolves when there was news since `clear`. */
    next: () =>
      new Promise<void>((resolve) => {
        tell = resolve
        if (isNew || isClosed) resolve()
      }),
    /** Whether the server stops, so that there will be no more news. */
    isOver: () => isOver,
    isClosed: () => isClosed,
    close() {
      isClosed = true
      unsubscribe()
      for (const watcher of watchers.values()) watcher.close()
      tell()
    },
  }
}
