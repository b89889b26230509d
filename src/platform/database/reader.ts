import type { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import type { Db } from './db.ts'
import { keepThread, type Request, type Response, takeThread } from './reader-pool.ts'

/**
 * A read that runs in the reader's thread. Input, progress and output are
 * copied between the threads, so they are plain data.
 */
export interface ReadJob<Input, Output> {
  name: string
  /** The thread that `runApart` uses; jobs that name the same one share it. Default: one for the job alone. */
  thread?: 'packages'
  run(db: Db, input: Input, report: (progress: unknown) => void): Output
}

/** Runs read jobs, one at a time, on a read-only connection in a worker thread. */
export interface Reader {
  /**
   * Queues a job. It sees every write that was committed before this call.
   *
   * @throws AppError `rate_limited` if the queue is full, or if the job exceeds its time limit
   */
  run<Input, Output>(job: ReadJob<Input, Output>, input: Input, options?: RunOptions): Promise<Output>
  /**
   * Runs a job that may take minutes in a separate thread. The queue does not
   * wait for it. One such job runs at a time, without a time limit.
   *
   * @throws AppError `rate_limited` while another one runs
   */
  runLong<Input, Output>(job: ReadJob<Input, Output>, input: Input, onProgress?: OnProgress): Promise<Output>
  /** Runs a job like `run`, in the thread of the job: jobs of other threads do not wait for it. */
  runApart<Input, Output>(job: ReadJob<Input, Output>, input: Input, options?: RunOptions): Promise<Output>
  /** Stops the threads. Jobs that did not finish fail. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Milliseconds from the start of the job; 2,000 by default. */
  timeLimitMs?: number
  /** The error of a job over its time limit; a 429 by default. */
  timeLimitError?: AppError
  onProgress?: OnProgress | undefined
  /** Buffers of the input that move to the thread instead of being copied; the caller loses them. */
  transfer?: readonly ArrayBuffer[]
}

export type OnProgress = (progress: unknown) => void

interface Queued {
  job: string
  input: unknown
  timeLimitMs: number
  timeLimitError: AppError | undefined
  onProgress: OnProgress | undefined
  transfer: readonly ArrayBuffer[]
  resolve: (output: never) => void
  reject: (error: unknown) => void
}

/** Each job may take 2 s, so clients of a longer queue would time out. */
const MAX_QUEUED = 64

/** The input of a job that runs apart may have 32 MB. */
const MAX_QUEUED_APART = 16

const DEFAULT_TIME_LIMIT_MS = 2_000

/**
 * Creates a reader for a database file. The thread starts with the first job.
 *
 * better-sqlite3 cannot interrupt a statement, so a job over its time limit
 * loses its thread: the call fails at once, and the next job starts in a new
 * thread. The old thread ends when its current statement returns.
 *
 * @param options.queued the name of the jobs in the error message of a full queue
 */
export function createReader(file: string, { maxQueued = MAX_QUEUED, queued = 'requests' } = {}): Reader {
  const queue: Queued[] = []
  let running: { job: Queued; timer: NodeJS.Timeout | undefined } | undefined
  let worker: Worker | undefined
  const ending = new Set<Promise<unknown>>()
  let long: Reader | undefined
  const apart = new Map<string, Reader>()
  let closed = false

  function startNext() {
    if (running || queue.length === 0) return
    const job = queue.shift()!
    worker ??= startThread()
    worker.ref()
    running = { job, timer: undefined }
    worker.postMessage({ type: 'run', file, job: job.job, input: job.input } satisfies Request, job.transfer)
  }

  function startThread(): Worker {
    const started = takeThread()
    started.on('message', (response: Response) => {
      if (started === worker) receive(response)
    })
    started.on('error', (error) => {
      if (started === worker) stopThread(error)
    })
    return started
  }

  function receive(response: Response) {
    if (!running) return
    const { job, timer } = running
    if (response.type === 'started') {
      // The time limit starts here and not earlier: starting a thread on a busy machine takes longer than a job.
      if (Number.isFinite(job.timeLimitMs)) running.timer = setTimeout(expire, job.timeLimitMs, job)
      return
    }
    if (response.type === 'progress') {
      job.onProgress?.(response.progress)
      return
    }
    clearTimeout(timer)
    running = undefined
    worker?.unref()
    // In another turn: the copy of a large output took its time already.
    if (response.type === 'done') setImmediate(() => job.resolve(response.output as never))
    else if (response.type === 'refused') {
      const { code, message, details, cause } = response
      job.reject(Object.assign(new AppError(code, message, details), cause !== undefined && { cause }))
    } else if (response.type === 'failed') job.reject(response.error)
    startNext()
  }

  function expire({ timeLimitMs, timeLimitError }: Queued) {
    const seconds = timeLimitMs / 1_000
    stopThread(
      timeLimitError ??
        new AppError(
          'rate_limited',
          `The query took longer than ${seconds} seconds. Use a narrower filter, or retry later.`,
          {
            retryAfterSec: Math.ceil(seconds),
          },
        ),
    )
  }

  /** Fails the current job and ends its thread without waiting for it. */
  function stopThread(error: unknown) {
    const { job, timer } = running ?? {}
    clearTimeout(timer)
    running = undefined
    const ended = worker?.terminate()
    worker = undefined
    if (ended) {
      ending.add(ended)
      void ended.finally(() => ending.delete(ended))
    }
    job?.reject(error)
    if (!closed) startNext()
  }

  return {
    run: ({ name }, input, { timeLimitMs = DEFAULT_TIME_LIMIT_MS, timeLimitError, onProgress, transfer = [] } = {}) =>
      new Promise((resolve, reject) => {
        if (closed) throw new AppError('shutting_down', 'The server is shutting down. Retry when it runs again.')
        if (queue.length >= maxQueued) {
          const message = `Too many ${queued} are waiting. Retry in a second.`
          throw new AppError('rate_limited', message, { retryAfterSec: 1 })
        }
        queue.push({ job: name, input, timeLimitMs, timeLimitError, onProgress, transfer, resolve, reject })
        startNext()
      }),
    async runLong(job, input, onProgress) {
      if (long) {
        throw new AppError('rate_limited', 'A database check is already running. Wait until it ends.', {
          retryAfterSec: 10,
        })
      }
      long = createReader(file)
      try {
        return await long.run(job, input, { timeLimitMs: Number.POSITIVE_INFINITY, onProgress })
      } finally {
        await long.close()
        long = undefined
      }
    },
    runApart(job, input, options) {
      const thread = job.thread ?? job.name
      const reader = apart.get(thread) ?? createReader(file, { maxQueued: MAX_QUEUED_APART, queued: 'imports' })
      apart.set(thread, reader)
      return reader.run(job, input, options)
    },
    async close() {
      closed = true
      const error = new AppError('shutting_down', 'The server is shutting down. Retry when it runs again.')
      for (const job of queue.splice(0)) job.reject(error)
      if (worker && !running) ending.add(keepThread(worker))
      else stopThread(error)
      worker = undefined
      await Promise.all([...ending, long?.close(), ...[...apart.values()].map((reader) => reader.close())])
    },
  }
}
