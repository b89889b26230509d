import type { SpanRef } from '../platform/tracer.ts'
import type { Endpoint } from './route.ts'

/** The headers of a request that carry a credential. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
}

/** The HTTP layer's interface to authentication and authorization. The access layer implements it. */
export interface RequestAccess<Principal, Caller> {
  /**
   * Applies the rate limits of the client's network, before the request is
   * authenticated or read.
   *
   * @throws AppError 429
   */
  limitNetwork(endpoint: Endpoint, address: string): void
  /** Proves an identity from the credential. @throws AppError 401 */
  authenticate(credentials: Credentials, endpoint: Endpoint): Promise<Principal>
  /**
   * Returns the caller of the request. Runs right before the use case.
   *
   * @throws AppError 403, 404 or 422
   */
  authorize(principal: Principal, endpoint: Endpoint, companyId: string | undefined): Caller
  /** Returns the span of the run that sends the request; null for another caller, undefined for an anonymous one. */
  spanOfRun(principal: Principal): SpanRef | null | undefined
  /** Names the caller, for what belongs to one caller, such as an `Idempotency-Key`; undefined for anonymous callers. */
  callerKey(caller: Caller): string | undefined
}
