import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { AppError } from '../errors.ts'
import { createDb } from './db.ts'
import type { ReadJob, Request, Response } from './reader.ts'

// biome-ignore lint/suspicious/noExplicitAny: each job has its own input and output.
type AnyJob = ReadJob<any, unknown>

/** Loads each job by its name, when it is first needed: a thread runs few of them. */
export type JobLoaders = Record<string, () => Promise<AnyJob>>

/** Serves the jobs in this thread, which a reader started. The connection cannot write. */
export function serveJobs(jobs: JobLoaders): void {
  const sqlite = openReadOnly(workerData)
  const db = createDb(sqlite)
  const send = (response: Response) => parentPort!.postMessage(response)

  parentPort!.on('message', async ({ job, input }: Request) => {
    try {
      const { run } = await jobs[job]!()
      // The time limit of the job starts here.
      send({ type: 'started' })
      const output = run(db, input, (progress) => send({ type: 'progress', progress }))
      send({ type: 'done', output })
    } catch (error) {
      // An error that is copied between threads loses its class.
      if (error instanceof AppError) {
        send({ type: 'refused', code: error.code, message: error.message, details: error.details })
      } else send({ type: 'failed', error })
    } finally {
      // The next job must see everything that was committed before it starts.
      db.endReads()
    }
  })
}

/** Opens a database for reading. The connection refuses every write. */
export function openReadOnly(file: string): Database.Database {
  const sqlite = new Database(file, { readonly: true, fileMustExist: true })
  for (const pragma of ['busy_timeout = 5000', 'query_only = on', 'trusted_schema = off', 'cache_size = -32000']) {
    sqlite.pragma(pragma)
  }
  return sqlite
}
