import { jwtVerify, SignJWT } from 'jose'

/** Makes and checks the tokens of runs. A token is a claim only: callers also look whether its run is live. */
export interface RunTokens {
  sign(run: { id: string; agentId: string; companyId: string }): Promise<string>
  /** @returns the run's id, or undefined when the token is not one of ours or has expired */
  verify(token: string): Promise<string | undefined>
}

const ISSUER = 'service'
const AUDIENCE = 'service-api'
const TYPE = 'service-run+jwt'

/** Longer than any run may last; the end of the run is what really ends the token. */
const LIFETIME = '48h'

/** How many checked tokens are remembered, so that an agent's every request does not pay for the signature. */
const KEPT_TOKENS = 1_000

/** @param secret 32 random bytes */
export function createRunTokens(secret: Uint8Array): RunTokens {
  const checked = new Map<string, { runId: string; expiresAt: number }>()
  return {
    sign: ({ id, agentId, companyId }) =>
      new SignJWT({ companyId, runId: id })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(agentId)
        .setJti(id)
        .setIssuedAt()
        .setExpirationTime(LIFETIME)
        .sign(secret),
    async verify(token) {
      const known = checked.get(token)
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
        if (checked.size >= KEPT_TOKENS) checked.delete(checked.keys().next().value!)
        checked.set(token, { runId: payload.runId, expiresAt: payload.exp! * 1_000 })
        return payload.runId
      } catch {
        return undefined
      }
    },
  }
}
