import { hasSubordinates } from '../organization/agent/credentials.ts'
import type { Context } from '../platform/context.ts'
import { mayCreateCompanies } from './board/membership-queries.ts'
import type { Caller } from './caller.ts'

/**
 * One kind of caller that a route admits. What depends on the entity (same
 * company, chain of command) is decided in the use case.
 */
export interface Who {
  /** As the documentation and a refusal name it. */
  name: string
  /** How such a caller shows who it is; `nothing` is enough on a local server that requires no token. */
  by: readonly ('nothing' | 'bearer' | 'session')[]
  allows(ctx: Context, caller: Caller): boolean
}

/** Anybody, with or without a credential. */
export const anyone: Who = { name: 'anyone', by: ['nothing'], allows: () => true }

export const board: Who = {
  name: 'the board',
  by: ['nothing', 'bearer', 'session'],
  allows: (_, caller) => caller.type === 'board',
}

/** Somebody who signed in, or a token of theirs: nobody does in local trusted mode. */
export const person: Who = {
  name: 'people who signed in (service start --mode authenticated)',
  by: ['bearer', 'session'],
  allows: (_, caller) => caller.type === 'board' && caller.via !== 'local',
}

/** Somebody at a browser. A token cannot do what would outlive its own revocation. */
export const signedIn: Who = {
  name: 'people who signed in with their password',
  by: ['session'],
  allows: (_, caller) => caller.type === 'board' && caller.via === 'session',
}

/** Any agent of the company. */
export const agent: Who = { name: 'agents', by: ['bearer'], allows: (_, caller) => caller.type === 'agent' }

export const ceo: Who = {
  name: 'the CEO agent',
  by: ['bearer'],
  allows: (_, caller) => caller.type === 'agent' && caller.role === 'ceo',
}

/** An agent with live subordinates. */
export const manager: Who = {
  name: 'manager agents',
  by: ['bearer'],
  allows: (ctx, caller) => caller.type === 'agent' && hasSubordinates(ctx.db, { agentId: caller.agentId }),
}

/** The board of all companies: of local trusted mode, or who set the server up. */
export const operator: Who = {
  name: 'the board of the whole server',
  by: ['nothing', 'bearer', 'session'],
  allows: (ctx, caller) =>
    caller.type === 'board' && (caller.companyIds === null || mayCreateCompanies(ctx.db, { userId: caller.userId })),
}
