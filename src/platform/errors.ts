/** Every error code with its HTTP status, from the error table of the contract. */
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
  database_damaged: 500,
  shutting_down: 503,
  disk_full: 507,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/**
 * An error that the caller can resolve. The message is a sentence that tells a
 * person what to do; the code is for programs. Any other error is a bug and is sent as
 * `internal`.
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

/**
 * Returns a 404. An entity of another company has the same error, so that callers cannot detect that it exists.
 *
 * @param owner the entity that would have it: `This issue`
 */
export const notFound = (what: string, ref: string, owner = '') => {
  const name = `${what} ${ref.length > 100 ? `${ref.slice(0, 100)}…` : ref}`
  return new AppError('not_found', owner === '' ? `There is no ${name}` : `${owner} has no ${name}`)
}

export const forbidden = (message: string, details?: unknown) => new AppError('forbidden', message, details)

/** An invalid field, in the shape of every validation error. */
export interface FieldError {
  /** A dotted path in the body or query, such as `runtimeConfig.heartbeat.intervalSec`. */
  path: string
  message: string
}

/** Returns a 400 that names all invalid fields. */
export const invalid = (fields: FieldError[]) =>
  new AppError(
    'validation_failed',
    `Invalid request: ${fields.map((field) => (field.path ? `${field.path}: ${field.message}` : field.message)).join('; ')}`,
    { fields },
  )

/** Returns a 422: the request is well-formed, but the value of one field is not possible. */
export const unprocessable = (field: string, message: string) =>
  new AppError('semantic', `${field}: ${message}`, { fields: [{ path: field, message }] })

/** Returns a 422 for an unknown reference in a body. An entity of another company has the same error. */
export const unknownReference = (field: string, what: string) =>
  unprocessable(field, `there is no such ${what} in this company`)
