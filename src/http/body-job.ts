import { hash } from 'node:crypto'
import type { GenericSchema, InferOutput } from 'valibot'
import type { ReadJob } from '../platform/database/reader.ts'
import { parseBody } from './body.ts'
import { validate } from './validate.ts'

/** A body that was parsed and validated in a thread. */
interface ParsedBody<T> {
  body: T
  /** Identifies the body for an `Idempotency-Key`. */
  digest: string
}

/** Parses and validates the bodies of an endpoint in a thread. */
export type BodyJob<T = unknown> = ReadJob<Uint8Array, ParsedBody<T>>

/**
 * Creates the job that parses the large bodies of an endpoint. On the main
 * thread, parsing 32 MB of JSON would take 0.2 s.
 *
 * @param maxFields the maximum number of fields in all objects of a body together
 */
export const bodyJob = <S extends GenericSchema>(
  name: string,
  schema: S,
  maxFields: number,
): BodyJob<InferOutput<S>> => ({
  name,
  thread: 'packages',
  run: (_, bytes) => ({
    body: validate(schema, parseBody(bytes, maxFields)) as InferOutput<S>,
    digest: hash('sha256', bytes),
  }),
})

/** Bodies up to this size, in bytes, are parsed on the main thread: it takes less than the way to a thread. */
export const SMALL_BODY = 64 * 1024

export const BODY_JOB_LIMITS = { timeLimitMs: 20_000 }
