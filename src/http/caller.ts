import { createHash } from 'node:crypto'
import { findAgentOfKey, findRunOfToken, noteKeyUse } from '../agent/credentials.ts'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'

/**
 * Who is asking and what they may, made from the credential alone, never from
 * a body. `system` is the server itself: no request is ever made by it.
 */
export type Caller = BoardCaller | AgentCaller | SystemCaller | AnonymousCaller

export interface BoardCaller {
  type: 'board'
  userId: string
  /** The companies that the user belongs to; null in local trusted mode: all of them. */
  companyIds: ReadonlySet<string> | null
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
export const LOCAL_BOARD: BoardCaller = { type: 'board', userId: 'local-board', companyIds: null }

/** Whether a caller belongs to a company. */
export function isOfCompany(caller: Caller, companyId: string): boolean {
  if (caller.type === 'agent') return caller.companyId === companyId
  if (caller.type === 'board') return caller.companyIds === null || caller.companyIds.has(companyId)
  return caller.type === 'system'
}

/** Who did something, as the records keep it. */
export function actorOf(caller: Caller): { type: 'agent' | 'user' | 'system'; id: string } {
  if (caller.type === 'agent') return { type: 'agent', id: caller.agentId }
  if (caller.type === 'board') return { type: 'user', id: caller.userId }
  if (caller.type === 'anonymous') return { type: 'user', id: 'anonymous' }
  return { type: 'system', id: 'system' }
}

/**
 * Finds out who is asking. A bearer token that is present but wrong is 401 in
 * every mode and never becomes the board.
 *
 * @param open whether the route is for anyone, so that no credential is needed
 */
export async function callerOf(ctx: Context, authorization: string | undefined, open = false): Promise<Caller> {
  if (authorization === undefined) {
    if (ctx.config.mode === 'local_trusted') return LOCAL_BOARD
    if (open) return { type: 'anonymous' }
    throw new AppError('unauthenticated', 'Sign in, or send an agent key as `Authorization: Bearer <key>`.')
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be `Bearer <key>`.')
  return token.startsWith(AGENT_KEY_PREFIX) ? callerOfKey(ctx, token) : callerOfRunToken(ctx, token)
}

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
