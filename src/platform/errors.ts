/** Every code that an answer can carry, with the status that the contract's error table gives it. */
export const ERROR_STATUS = {
  validation_failed: 400,
  malformed_json: 400,
  malformed_request: 400,
  unauthenticated: 401,
  run_ended: 401,
  forbidden: 403,
  wrong_company: 403,
  gate_refused: 403,
  read_only: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  issue_taken: 409,
  status_not_expected: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  semantic: 422,
  invalid_transition: 422,
  blocked: 422,
  strategy_not_approved: 422,
  idempotency_key_reused: 422,
  agent_not_ready: 422,
  budget_exceeded: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  shutting_down: 503,
  disk_full: 507,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/**
 * A failure that the caller can do something about. The message is a sentence
 * for a person that says what to do; the code is for programs. Anything thrown
 * that is not an AppError is a bug and is answered as `internal`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: unknown

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.details = details
  }

  get status(): (typeof ERROR_STATUS)[ErrorCode] {
    return ERROR_STATUS[this.code]
  }
}

/** Says that a thing does not exist, or not for this caller: the answer is the same, so nobody learns which. */
export const notFound = (what: string, ref: string) =>
  new AppError('not_found', `No such ${what}: ${ref.length > 100 ? `${ref.slice(0, 100)}…` : ref}`)

export const forbidden = (message: string, details?: unknown) => new AppError('forbidden', message, details)

/** A field at fault, in the shape of every validation error. */
export interface FieldError {
  /** Dotted path into the body or query, such as `runtimeConfig.heartbeat.intervalSec`. */
  path: string
  message: string
}

/** Refuses a request for the fields at fault, all of them at once. */
export const invalid = (fields: FieldError[]) =>
  new AppError(
    'validation_failed',
    `Invalid request: ${fields.map((field) => (field.path ? `${field.path}: ${field.message}` : field.message)).join('; ')}`,
    { fields },
  )

/** Returns a 422: the request is well-formed, but the value of one field is not possible. */
export const unprocessable = (field: string, message: string) =>
  new AppError('semantic', `${field}: ${message}`, { fields: [{ path: field, message }] })

/** Returns a 422 for a reference in a body. A record of another company is as unknown as one that does not exist. */
export const unknownReference = (field: string, what: string) =>
  unprocessable(field, `there is no such ${what} in this company`)
