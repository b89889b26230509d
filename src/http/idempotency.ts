import { type Context, withWrites } from '../platform/context.ts'
import { prepared, sql } from '../platform/database/sql.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { JsonText, Reply } from './route.ts'

/** The time for which a response is stored for retries, in milliseconds. */
const RETENTION_MS = 24 * 60 * 60 * 1_000

/** Thrown inside a write to roll it back if another request with the same key was completed in the meantime. */
class AlreadyCompleted extends Error {
  readonly reply: Reply
  constructor(reply: Reply) {
    super('Already completed.')
    this.reply = reply
  }
}

/** A request with an `Idempotency-Key`. */
interface IdempotentRequest {
  /** The caller that the key belongs to. */
  owner: string
  /** The `Idempotency-Key`. */
  key: string
  /** The parts that identify the request: path, query and body. */
  request: string[]
  /** Whether the response contains a secret, which the database must not store. */
  secret: boolean | undefined
  /** Authorizes the caller to receive a stored response again. @throws AppError if the caller has lost the permission */
  authorizeReplay: (reply: Reply) => void
}

/**
 * Runs a POST request once per `Idempotency-Key`. A retry of the same request
 * receives the stored response. Another request with the same key fails with
 * 422. The response is stored in the transaction of the change, so a crash
 * cannot apply the change twice. The response of a failed request is not
 * stored, because the request changed no data.
 */
export async function withIdempotency(
  ctx: Context,
  { owner, key, request, secret, authorizeReplay }: IdempotentRequest,
  run: (ctx: Context) => unknown,
  toReply: (result: unknown) => Reply,
): Promise<Reply> {
  if (key.length === 0 || key.length > 255) {
    throw invalid([{ path: 'Idempotency-Key', message: 'must be a header of 1 to 255 characters' }])
  }
  const entry = { caller: owner, key, request: ctx.vault.fingerprint(JSON.stringify(request)) }
  const known = findStoredReply(ctx, entry)
  if (known) {
    authorizeReplay(known)
    return known
  }

  const keep = (ctx: Context, reply: Reply) =>
    storeReply(ctx, entry, secret ? new Reply(reply.status, SHOWN_ONCE) : reply)
  // The change and its response are one write: the response is the return value of the last write of the use case.
  let stored: Reply | undefined
  const refuseCompleted = (ctx: Context) => {
    const completed = stored ? undefined : findStoredReply(ctx, entry)
    if (completed) throw new AlreadyCompleted(completed)
  }
  const keepResult = <T>(ctx: Context, result: T) => {
    const reply = toReply(result)
    keep(ctx, reply)
    ctx.afterCommit(() => {
      stored = reply
    })
    return result
  }
  const recording = withWrites(ctx, {
    write(ctx, change) {
      refuseCompleted(ctx)
      return keepResult(ctx, change())
    },
    *writeLong(ctx, change) {
      refuseCompleted(ctx)
      return keepResult(ctx, yield* change)
    },
  })
  try {
    const reply = toReply(await run(recording))
    if (stored?.body !== reply.body || stored?.status !== reply.status) await ctx.write(() => keep(ctx, reply))
    return reply
  } catch (error) {
    if (error instanceof AlreadyCompleted) return error.reply
    throw error
  }
}

/** Stored instead of a response that contains a secret. */
const SHOWN_ONCE = { shownOnce: true }

interface Entry {
  caller: string
  key: string
  request: string
}

const storedReply = prepared((entry: { caller: string; key: string }) =>
  sql.selectFrom('idempotency').selectAll().where('caller', '=', entry.caller).where('key', '=', entry.key),
)

/** The length in characters from which a stored response is not parsed, which would block the main thread. */
const LARGE = 100_000

function findStoredReply(ctx: Context, entry: Entry): Reply | undefined {
  const row = ctx.db.first(storedReply(entry))
  if (!row || Date.parse(ctx.now) - Date.parse(row.created_at) > RETENTION_MS) return undefined
  if (row.request !== entry.request) {
    throw new AppError(
      'idempotency_key_reused',
      'This Idempotency-Key was already used for another request. Use a new key.',
    )
  }
  if (row.response === JSON.stringify(SHOWN_ONCE)) {
    throw new AppError(
      'conflict',
      'This request was already processed. Its response contained a secret, which the server returns only once.',
    )
  }
  const { status, response } = row
  return new Reply(status, response.length > LARGE ? new JsonText(response) : JSON.parse(response))
}

function storeReply(ctx: Context, entry: Entry, { status, body }: Reply): void {
  const response = body instanceof JsonText ? body.toString() : JSON.stringify(body ?? null)
  const row = { ...entry, status, response, created_at: ctx.now }
  ctx.db.run(sql.deleteFrom('idempotency').where('created_at', '<', expiry(ctx.now)))
  ctx.db.run(sql.replaceInto('idempotency').values(row))
}

const expiry = (now: string) => new Date(Date.parse(now) - RETENTION_MS).toISOString()
