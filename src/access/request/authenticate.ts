import type { Credentials } from '../../http/access.ts'
import { hashCredential, isSameSecret } from '../../platform/credential.ts'
import { AppError } from '../../platform/errors.ts'
import type { AccessContext } from '../auth/sign-in.ts'
import { findUserOfToken, noteTokenUse } from '../board/token-queries.ts'
import type { AgentCaller, BoardCaller, KeyScope } from '../caller/caller.ts'
import { isLive } from '../caller/credential-expiry.ts'
import { AGENT_KEY_PREFIX, BOARD_TOKEN_PREFIX } from '../caller/credential-prefix.ts'

/** The identity that a credential proves, without the permissions of a request. */
export type Principal =
  | Pick<BoardCaller, 'type' | 'userId' | 'via'>
  | ({ type: 'agent' } & AgentIdentity)
  | { type: 'anonymous' }

/** The agent of a key or run token, and the permissions of that credential. */
export interface AgentIdentity extends Omit<AgentCaller, 'type' | 'isWrite'> {
  scope: KeyScope
}

/** Looks up the credentials of agents; the layers that own agents and runs provide it. */
export interface AgentCredentials {
  /** Returns the agent of a key by the key's hash; undefined if the key is unknown, revoked, expired, or its agent cannot work. */
  findAgentOfKey(ctx: AccessContext, keyHash: string): AgentIdentity | undefined
  /**
   * Returns the agent of a run token; undefined if the token is not valid here.
   *
   * @param acceptsEnded whether the token is valid after the end of its run
   * @throws AppError `run_ended` if the run of the token has ended
   */
  findAgentOfRunToken(ctx: AccessContext, token: string, acceptsEnded: boolean): Promise<AgentIdentity | undefined>
}

/**
 * Authenticates a request. An invalid bearer token is a 401 in every mode, even
 * if the request also has a valid cookie.
 *
 * @param route.isOpen whether the route is open to anyone, so that no credential is needed
 * @param route.acceptsEndedRun whether the token of a run that has ended is valid
 */
export async function authenticate(
  ctx: AccessContext,
  agents: AgentCredentials,
  { authorization, cookie }: Credentials,
  { isOpen, acceptsEndedRun }: { isOpen: boolean; acceptsEndedRun: boolean },
): Promise<Principal> {
  if (authorization === undefined) {
    const principal = await principalOfCookie(ctx, cookie)
    if (principal) return principal
    if (isOpen) return { type: 'anonymous' }
    const { mode } = ctx.config
    const how = mode === 'authenticated' ? 'Sign in at /login' : 'Open the link that the server printed'
    throw new AppError('unauthenticated', `${how}, or send a credential as \`Authorization: Bearer <credential>\`.`, {
      mode,
    })
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be `Bearer <credential>`.')
  const { key } = ctx.signIn.local
  if (key !== undefined && isSameSecret(token, key)) return LOCAL_PRINCIPAL
  if (token.startsWith(BOARD_TOKEN_PREFIX)) return principalOfBoardToken(ctx, token)
  if (token.startsWith(AGENT_KEY_PREFIX)) {
    const found = agents.findAgentOfKey(ctx, hashCredential(token))
    if (found) return { type: 'agent', ...found }
    throw new AppError('unauthenticated', 'This agent key is unknown, revoked or expired. Ask the board for a new key.')
  }
  const found = await agents.findAgentOfRunToken(ctx, token, acceptsEndedRun)
  if (found) return { type: 'agent', ...found }
  throw new AppError('unauthenticated', 'This token is not valid here.')
}

const LOCAL_PRINCIPAL = { type: 'board', userId: 'local-board', via: 'local' } as const

async function principalOfCookie(ctx: AccessContext, cookie: string | undefined): Promise<Principal | undefined> {
  if (ctx.config.mode === 'local_trusted') return ctx.signIn.local.admits(cookie) ? LOCAL_PRINCIPAL : undefined
  const session = cookie === undefined ? undefined : await ctx.signIn.identity?.sessionOf(cookie)
  return session && { type: 'board', userId: session.userId, via: 'session' }
}

function principalOfBoardToken(ctx: AccessContext, token: string): Principal {
  const found = findUserOfToken(ctx.db, { hash: hashCredential(token) })
  if (ctx.config.mode !== 'authenticated' || !found || !isLive(ctx, found)) {
    throw new AppError('unauthenticated', 'This token is unknown, revoked or expired. Sign in and create a new one.')
  }
  noteTokenUse(ctx, found)
  return { type: 'board', userId: found.user_id, via: 'token' }
}
