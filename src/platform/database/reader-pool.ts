import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ErrorCode } from '../errors.ts'
import { fileOf } from '../programs.ts'

/** A message from the reader to its thread: one job at a time, and `close` at the end. */
export type Request = { type: 'run'; file: string; job: string; input: unknown } | { type: 'close' }

/** A message from the thread. A job sends `started`, any number of `progress`, then its result; `close` sends `closed`. */
export type Response =
  | { type: 'closed' }
  | { type: 'started' }
  | { type: 'progress'; progress: unknown }
  | { type: 'done'; output: unknown }
  | { type: 'refused'; code: ErrorCode; message: string; details: unknown; cause: unknown }
  | { type: 'failed'; error: unknown }

/** A spare thread ends after this time. */
const SPARE_MS = 10_000

const spare: Worker[] = []

/** Returns a thread for read jobs: a spare one, or a new one. Loading a job takes longer than running most jobs. */
export const takeThread = (): Worker => spare.pop() ?? new Worker(fileOf('reader'))

/** Closes the connection of an idle thread and stores the thread for the next reader. A thread that fails is not stored. */
export async function keepThread(thread: Worker): Promise<void> {
  thread.removeAllListeners('message').removeAllListeners('error')
  thread.ref()
  thread.postMessage({ type: 'close' } satisfies Request)
  const isClosed = await once(thread, 'message').then(
    () => true,
    () => false, // an error
  )
  if (!isClosed) return
  const end = () => {
    const at = spare.indexOf(thread)
    if (at < 0) return
    spare.splice(at, 1)
    void thread.terminate()
  }
  thread.on('error', end)
  thread.unref()
  spare.push(thread)
  setTimeout(end, SPARE_MS).unref()
}
