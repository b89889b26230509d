import type { Role } from './role.ts'

/**
 * The authenticated identity behind a request, with its permissions. It is made
 * from the credential alone, never from the body. `system` is the server
 * itself: no request has this caller.
 */
export type Caller = BoardCaller | AgentCaller | SystemCaller | AnonymousCaller

export interface BoardCaller {
  type: 'board'
  userId: string
  /** How the user authenticated; `local` is the board of local trusted mode, where nobody signs in. */
  via: 'local' | 'session' | 'token'
  /** The user's role in each company that the user belongs to; null in local trusted mode: all companies. */
  roles: ReadonlyMap<string, Role> | null
  /** The least role that the request requires in its company. */
  requiredRole: Role
  /** Whether the request may change a company's data; an archived company then refuses it. */
  isWrite: boolean
}

export interface AgentCaller {
  type: 'agent'
  agentId: string
  companyId: string
  role: string
  /** The run of the token; null for a long-lived key. */
  runId: string | null
  /** The time at which the key expires; null for a key without one, and for a run token. */
  keyExpiresAt: string | null
  isWrite: boolean
}

/** The permissions of a long-lived key of an agent: only GET, or all permissions of the agent. A run token has the scope `work`. */
export const KEY_SCOPES = ['read', 'work'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

export interface SystemCaller {
  type: 'system'
}

/** A request without a credential, on a route that is open to anyone, in authenticated mode. */
export interface AnonymousCaller {
  type: 'anonymous'
}

export const SYSTEM: SystemCaller = { type: 'system' }

/** The board operator of local trusted mode, where nobody signs in. */
export const LOCAL_BOARD: BoardCaller = {
  type: 'board',
  userId: 'local-board',
  via: 'local',
  roles: null,
  requiredRole: 'viewer',
  isWrite: true,
}

/** Whether a caller belongs to a company, in any role. */
export function belongsTo(caller: Caller, companyId: string): boolean {
  if (caller.type === 'agent') return caller.companyId === companyId
  if (caller.type === 'board') return caller.roles === null || caller.roles.has(companyId)
  return caller.type === 'system'
}

/** The actor of a change, as the records store it. */
export function actorOf(caller: Caller): { type: 'agent' | 'user' | 'system'; id: string } {
  if (caller.type === 'agent') return { type: 'agent', id: caller.agentId }
  if (caller.type === 'board') return { type: 'user', id: caller.userId }
  if (caller.type === 'anonymous') return { type: 'user', id: 'anonymous' }
  return { type: 'system', id: 'system' }
}
