import type { Endpoint } from './route.ts'

/** The headers of a request that carry a credential. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
}

/** How the HTTP layer learns who calls and what the caller may do; the access layer provides it. */
export interface RequestAccess<Principal, Caller> {
  /** Applies the limits of the client's network, before anything is authenticated or read. @throws AppError 429 */
  limitNetwork(endpoint: Endpoint, address: string): void
  /** Proves an identity from the credential. @throws AppError 401 */
  authenticate(credentials: Credentials, endpoint: Endpoint): Promise<Principal>
  /** Makes the caller of the request, right before the use case. @throws AppError 403, 404 or 422 */
  authorize(principal: Principal, endpoint: Endpoint, companyId: string | undefined): Caller
  /** Names the caller that owns an `Idempotency-Key`; undefined if the caller cannot have one. */
  idempotencyOwner(caller: Caller): string | undefined
}
