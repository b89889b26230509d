import { type FSWatcher, watch } from 'node:fs'
import type { Input } from '../../access/route.ts'
import { frame, keepAuthorized } from '../../http/sse.ts'
import { findRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { logFolder, runFolder } from '../process/run-files.ts'
import { readRunLog } from './read-run-log.ts'

/** The size limit of one event, and of the events that wait for a client, in bytes. */
const PART_BYTES = 64 * 1024

/**
 * Streams a run's log from an offset as Server-Sent Events: `log` events, whose
 * id is the offset after their text, and one `end` event. It reads the next part
 * only after the client has received the previous one, so a slow client costs no
 * memory. A client that receives nothing for two heartbeats is disconnected.
 *
 * @param from the first byte, as an offset in the whole log
 */
export function streamLog(
  ctx: Context,
  runId: string,
  from: number,
  { drop, isStillAuthorized }: Pick<Input, 'drop' | 'isStillAuthorized'>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const changes = watchLog(ctx, runId)
  let offset = from
  let stalled = 0
  let endChecks = () => {}
  const stop = () => {
    endChecks()
    changes.close()
  }

  /** Sends the next event, once there is one. @returns whether others may follow */
  const sendNext = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> => {
    const send = (event: Parameters<typeof frame>[0]) => controller.enqueue(encoder.encode(frame(event)))
    for (;;) {
      if (changes.isClosed()) return true
      changes.clear()
      const run = findRun(ctx.db, { id: runId })
      if (!run) return false
      const part = readRunLog(ctx, run, offset, PART_BYTES)
      if (part.nextOffset > offset) {
        offset = part.nextOffset
        send({ id: offset, type: 'log', data: { text: part.text, offset } })
        return true
      }
      // The run was read before its log, so the log of an ended run is complete.
      if (run.finished_at !== null) {
        const { status, exit_code, signal, error, error_code } = run
        const data = { runId, status, exitCode: exit_code, signal, error, errorCode: error_code }
        send({ id: offset, type: 'end', data })
        return false
      }
      await changes.next()
      if (changes.isServerStopping()) return false
    }
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
            // If the system's limit of file watchers is reached, only this check finds new output.
            changes.check()
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
        try {
          if (await sendNext(controller)) return
        } catch (error) {
          // The heartbeats would otherwise write to a stream that has ended.
          stop()
          throw error
        }
        stop()
        controller.close()
      },
      cancel: stop,
    },
    { highWaterMark: PART_BYTES, size: (chunk) => chunk.byteLength },
  )
}

/**
 * Watches a run's log for changes. The system reports that its files grow, and
 * the server's own events report the start and the end of the run.
 */
function watchLog(ctx: Context, runId: string) {
  const runDir = runFolder(ctx.config, runId)
  const watchers = new Map<string, FSWatcher>()
  let hasChanged = true
  let isServerStopping = false
  let isClosed = false
  let notify = () => {}

  const noteChange = () => {
    hasChanged = true
    notify()
  }
  /** Watches a folder, once it exists. */
  const watchFolder = (folder: string, onChange: () => void) => {
    if (watchers.has(folder) || isClosed) return
    try {
      const watcher = watch(folder, onChange)
      watcher.on('error', () => watcher.close())
      watchers.set(folder, watcher)
      noteChange()
    } catch {
      // The folder does not exist yet. Its parent is watched, or an event of the run follows.
    }
  }
  const watchFolders = () => {
    watchFolder(runDir, () => watchFolder(logFolder(runDir), noteChange))
    watchFolder(logFolder(runDir), noteChange)
  }
  const unsubscribe = ctx.events.subscribe(
    ({ type, data }) => {
      if (!type.startsWith('run.')) return
      const { runId: about, entityId } = data as { runId?: string; entityId?: string }
      if (about !== runId && entityId !== runId) return
      watchFolders()
      noteChange()
    },
    () => {
      isServerStopping = true
      noteChange()
    },
  )
  watchFolders()

  return {
    /** Watches folders that were created meanwhile, and lets the stream read again. */
    check() {
      watchFolders()
      noteChange()
    },
    clear() {
      hasChanged = false
    },
    /** Resolves when something has changed since `clear`. */
    next: () =>
      new Promise<void>((resolve) => {
        notify = resolve
        if (hasChanged || isClosed) resolve()
      }),
    isServerStopping: () => isServerStopping,
    isClosed: () => isClosed,
    close() {
      isClosed = true
      unsubscribe()
      for (const watcher of watchers.values()) watcher.close()
      notify()
    },
  }
}
