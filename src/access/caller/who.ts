import type { Audience } from '../../http/route.ts'
import type { Context } from '../../platform/context.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { Caller } from './caller.ts'

/**
 * One type of caller that a route allows. Permissions that depend on the entity
 * (same company, chain of command) are checked in the use case.
 */
export interface Who extends Audience {
  allows(ctx: Context, caller: Caller): boolean
}

/** Anyone, with or without a credential. */
export const anyone: Who = { name: 'anyone', by: ['nothing'], allows: () => true }

export const board: Who = {
  name: 'the board',
  by: ['nothing', 'bearer', 'session'],
  allows: (_, caller) => caller.type === 'board',
}

/** A person who signed in, or one of the person's tokens: nobody signs in in local trusted mode. */
export const person: Who = {
  name: 'people who signed in (service start --mode authenticated)',
  by: ['bearer', 'session'],
  allows: (_, caller) => caller.type === 'board' && caller.via !== 'local',
}

/**
 * A person with a session in a browser. A token is excluded: it could create
 * something that remains valid after its revocation.
 */
export const signedIn: Who = {
  name: 'people who signed in in a browser, at /account,',
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

/** The board of all companies: in local trusted mode the board, otherwise the person who set the server up. */
export const operator: Who = {
  name: 'the board of the whole server',
  by: ['nothing', 'bearer', 'session'],
  allows: (ctx, caller) =>
    caller.type === 'board' &&
    (caller.roles === null || ctx.db.first(operatorRight({ userId: caller.userId }))?.may_create_companies === 1),
}

const operatorRight = prepared((key: { userId: string }) =>
  sql.selectFrom('auth_user').select('may_create_companies').where('id', '=', key.userId),
)
