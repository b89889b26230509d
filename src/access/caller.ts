import { createHash } from 'node:crypto'
import { findAgentOfKey, findRunOfToken, noteKeyUse } from '../organization/agent/credentials.ts'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { sameSecret } from './auth/setup.ts'
import { listMemberships } from './board/membership-queries.ts'
import { mayAct, type Role, tooLow } from './board/role.ts'
import { findUserOfToken, noteTokenUse } from './board/token-queries.ts'

/**
 * Who is asking and what they may, made from the credential alone, never from
 * a body. `system` is the server itself: no request is ever made by it.
 */
export type Caller = BoardCaller | AgentCaller | SystemCaller | AnonymousCaller

export interface BoardCaller {
  type: 'board'
  userId: string
  /** How the user came in; `local` is the board of local trusted mode, where nobody signs in. */
  via: 'local' | 'session' | 'token'
  /** The companies that the user belongs to; null in local trusted mode: all of them. */
  companyIds: ReadonlySet<string> | null
  /** What the user is in each of them; null in local trusted mode. */
  roles: ReadonlyMap<string, Role> | null
  /** The least role that the request asks for in the company it is about. */
  needs: Role
}

export interface AgentCaller {
  type: 'agent'
  agentId: string
  companyId: string
  role: string
  /** The run whose token this is; null for a long-lived key. */
  runId: string | null
}

export interface SystemCaller {
  type: 'system'
}

/** Somebody who sent no credential, on a route for anyone, in authenticated mode. */
export interface AnonymousCaller {
  type: 'anonymous'
}

export const SYSTEM: SystemCaller = { type: 'system' }

/** The board operator of local trusted mode, where no one has to log in. */
export const LOCAL_BOARD: BoardCaller = {
  type: 'board',
  userId: 'local-board',
  via: 'local',
  companyIds: null,
  roles: null,
  needs: 'viewer',
}

/**
 * Whether a caller belongs to a company. Every entity passes through here on
 * its way to a request, so this is also where somebody who belongs to the
 * company is refused (403) whose role in it is too low for what is asked.
 */
export function isOfCompany(caller: Caller, companyId: string): boolean {
  if (caller.type === 'agent') return caller.companyId === companyId
  if (caller.type !== 'board') return caller.type === 'system'
  if (caller.companyIds !== null && !caller.companyIds.has(companyId)) return false
  if (!mayAct(caller, companyId)) throw tooLow(caller.roles?.get(companyId), caller.needs)
  return true
}

/** Who did something, as the records keep it. */
export function actorOf(caller: Caller): { type: 'agent' | 'user' | 'system'; id: string } {
  if (caller.type === 'agent') return { type: 'agent', id: caller.agentId }
  if (caller.type === 'board') return { type: 'user', id: caller.userId }
  if (caller.type === 'anonymous') return { type: 'user', id: 'anonymous' }
  return { type: 'system', id: 'system' }
}

/** What of a request says who is asking, as its headers have it. */
export interface Credentials {
  authorization: string | undefined
  cookie: string | undefined
}

/**
 * Finds out who is asking. A bearer token that is present but wrong is 401 in
 * every mode and never becomes the board, whatever the cookies say.
 *
 * @param open whether the route is for anyone, so that no credential is needed
 */
export async function callerOf(ctx: Context, credentials: Credentials, open = false): Promise<Caller> {
  const { authorization, cookie } = credentials
  if (authorization === undefined) {
    const caller = await callerOfCookie(ctx, cookie)
    if (caller) return caller
    if (open) return { type: 'anonymous' }
    const { mode } = ctx.config
    const how = mode === 'authenticated' ? 'Sign in at /login' : 'Open the link that the server printed'
    throw new AppError('unauthenticated', `${how}, or send a key as \`Authorization: Bearer <key>\`.`, { mode })
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be `Bearer <key>`.')
  const { key } = ctx.localAccess
  if (key !== undefined && sameSecret(token, key)) return LOCAL_BOARD
  if (token.startsWith(BOARD_TOKEN_PREFIX)) return callerOfBoardToken(ctx, token)
  return token.startsWith(AGENT_KEY_PREFIX) ? callerOfKey(ctx, token) : callerOfRunToken(ctx, token)
}

async function callerOfCookie(ctx: Context, cookie: string | undefined): Promise<BoardCaller | undefined> {
  if (ctx.config.mode === 'local_trusted') return ctx.localAccess.admits(cookie) ? LOCAL_BOARD : undefined
  const session = cookie === undefined ? undefined : await ctx.identity?.sessionOf(cookie)
  return session && boardCaller(ctx, session.userId, 'session')
}

/** A person, with what they are in their companies at this moment. */
export function boardCaller(ctx: Context, userId: string, via: BoardCaller['via']): BoardCaller {
  const roles = new Map(listMemberships(ctx.db, { userId }).map((row) => [row.company_id, row.role]))
  return { type: 'board', userId, via, companyIds: new Set(roles.keys()), roles, needs: 'viewer' }
}

function callerOfBoardToken(ctx: Context, token: string): BoardCaller {
  const found = findUserOfToken(ctx.db, { hash: hashKey(token) })
  if (ctx.config.mode !== 'authenticated' || !found || found.revoked_at) {
    throw new AppError('unauthenticated', 'This token is unknown or revoked. Sign in and make another.')
  }
  noteTokenUse(ctx, found)
  return boardCaller(ctx, found.user_id, 'token')
}

export const BOARD_TOKEN_PREFIX = 'svcb_'

export const AGENT_KEY_PREFIX = 'svc_'

/** What is stored of a long-lived key: it is 32 random bytes, so a plain hash holds. */
export const hashKey = (key: string) => createHash('sha256').update(key).digest('base64url')

function callerOfKey(ctx: Context, key: string): AgentCaller {
  const found = findAgentOfKey(ctx.db, { hash: hashKey(key) })
  if (!found || found.revoked_at || found.status === 'terminated' || found.status === 'pending_approval') {
    throw new AppError('unauthenticated', 'This agent key is unknown or revoked. Ask the board for another.')
  }
  noteKeyUse(ctx, found)
  return { type: 'agent', agentId: found.agent_id, companyId: found.company_id, role: found.role, runId: null }
}

async function callerOfRunToken(ctx: Context, token: string): Promise<AgentCaller> {
  const runId = await ctx.tokens.verify(token)
  const run = runId === undefined ? undefined : findRunOfToken(ctx.db, { runId })
  if (!run || run.status === 'terminated' || run.status === 'pending_approval')
    throw new AppError('unauthenticated', 'This token is not valid here.')
  if (run.finished_at !== null) {
    throw new AppError('run_ended', 'The run of this token has ended, and its token with it.')
  }
  return { type: 'agent', agentId: run.agent_id, companyId: run.company_id, role: run.role, runId: run.id }
}
