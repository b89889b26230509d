import { parentPort } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { AppError } from '../errors.ts'
import { createDb, type Db } from './db.ts'
import type { ReadJob } from './reader.ts'
import type { Request, Response } from './reader-pool.ts'
import { toAppError } from './write-queue.ts'

// biome-ignore lint/suspicious/noExplicitAny: the types of the input and the output differ between jobs.
type AnyJob = ReadJob<any, unknown>

/** Loads each job by its name, when it is first needed: a thread runs few of them. */
export type JobLoaders = Record<string, () => Promise<AnyJob>>

/** Serves the jobs in this thread, for one reader after the other. The connection cannot write. */
export function serveJobs(jobs: JobLoaders): void {
  let open: { file: string; sqlite: Database.Database; db: Db } | undefined
  const loaded = new Map<string, AnyJob>()
  const load = async (name: string) => {
    const job = loaded.get(name) ?? (await jobs[name]!())
    loaded.set(name, job)
    return job
  }
  const send = (response: Response) => parentPort!.postMessage(response)
  const close = () => {
    open?.sqlite.close()
    open = undefined
  }
  const dbOf = (file: string) => {
    if (open?.file !== file) {
      close()
      const sqlite = openReadOnly(file)
      open = { file, sqlite, db: createDb(sqlite) }
    }
    return open.db
  }

  parentPort!.on('message', async (request: Request) => {
    if (request.type === 'close') {
      close()
      send({ type: 'closed' })
      return
    }
    try {
      const { run } = await load(request.job)
      const db = dbOf(request.file)
      // The time limit of the job starts here.
      send({ type: 'started' })
      const output = run(db, request.input, (progress) => send({ type: 'progress', progress }))
      send({ type: 'done', output })
    } catch (thrown) {
      // An error that is copied between threads loses its class and its code.
      const error = toAppError(thrown)
      if (error instanceof AppError) {
        const { code, message, details, cause } = error
        send({ type: 'refused', code, message, details, cause })
      } else send({ type: 'failed', error })
    } finally {
      // The next job must see everything that was committed before it starts.
      open?.db.endReads()
    }
  })
}

/** Opens a database for reading. The connection refuses every write. */
export function openReadOnly(file: string): Database.Database {
  const sqlite = new Database(file, { readonly: true, fileMustExist: true })
  try {
    for (const pragma of ['busy_timeout = 5000', 'query_only = on', 'trusted_schema = off', 'cache_size = -32000']) {
      sqlite.pragma(pragma)
    }
  } catch (error) {
    sqlite.close() // an open connection would keep the last one from removing the WAL
    throw error
  }
  return sqlite
}
