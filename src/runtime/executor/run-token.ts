import { jwtVerify, SignJWT } from 'jose'

/** Signs and verifies run tokens. A valid token is not sufficient: the caller must check that its run is live. */
export interface RunTokens {
  sign(run: { id: string; agentId: string; companyId: string; lifetime?: string }): Promise<string>
  /** Returns the id of the token's run, or undefined if the signature is invalid or the token has expired. */
  verify(token: string): Promise<string | undefined>
}

const ISSUER = 'service'
const AUDIENCE = 'service-api'
const TYPE = 'service-run+jwt'

/** Longer than any run may last. The end of the run invalidates its token earlier. */
const LIFETIME = '48h'

/** The number of verified tokens in the cache, which saves the signature check of repeated requests. */
const CACHED_TOKENS = 1_000

/**
 * Creates the signer and verifier of run tokens (JWT, HS256).
 *
 * @param secret 32 random bytes
 */
export function createRunTokens(secret: Uint8Array): RunTokens {
  const verified = new Map<string, { runId: string; expiresAt: number }>()
  return {
    sign: ({ id, agentId, companyId, lifetime = LIFETIME }) =>
      new SignJWT({ companyId, runId: id })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(agentId)
        .setJti(id)
        .setIssuedAt()
        .setExpirationTime(lifetime)
        .sign(secret),
    async verify(token) {
      const known = verified.get(token)
      if (known) return known.expiresAt > Date.now() ? known.runId : undefined
      try {
        const { payload } = await jwtVerify(token, secret, {
          algorithms: ['HS256'],
          issuer: ISSUER,
          audience: AUDIENCE,
          typ: TYPE,
          requiredClaims: ['sub', 'jti', 'exp'],
        })
        if (typeof payload.runId !== 'string') return undefined
        if (verified.size >= CACHED_TOKENS) verified.delete(verified.keys().next().value!)
        verified.set(token, { runId: payload.runId, expiresAt: payload.exp! * 1_000 })
        return payload.runId
      } catch {
        return undefined
      }
    },
  }
}
