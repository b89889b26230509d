import { AppError, ERROR_STATUS, type ErrorCode } from '../../platform/errors.ts'

/** A response of 4xx or 5xx without an error code that this client knows, such as a page of a proxy. */
export class UnexpectedResponse extends Error {
  readonly status: number
  /** The error code that a newer server sent. */
  readonly code: string | undefined

  constructor(status: number, code: string | undefined, message: string) {
    super(message)
    this.name = 'UnexpectedResponse'
    this.status = status
    this.code = code
  }
}

/** Converts the body of an error response back into the error that the server threw. */
export function errorFrom(status: number, body: unknown): AppError | UnexpectedResponse {
  const { error, code, details } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ErrorBody>
  const message = error ?? `The server responded with status ${status}.`
  return code !== undefined && Object.hasOwn(ERROR_STATUS, code)
    ? new AppError(code as ErrorCode, message, details)
    : new UnexpectedResponse(status, code, message)
}

interface ErrorBody {
  error: string
  code: string
  details: unknown
}
