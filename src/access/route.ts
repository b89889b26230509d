import { type Input as AnyInput, routeFor } from '../http/route.ts'
import type { AccessContext } from './auth/sign-in.ts'
import type { Caller } from './caller/caller.ts'
import type { Role } from './caller/role.ts'
import type { Who } from './caller/who.ts'

/** Describes an endpoint of this server: `run` receives an `AccessContext` and an authorized `Caller`. */
export const route = routeFor<AccessContext, Caller, Who, Role>()

export type Input<P = unknown, Q = unknown, B = unknown> = AnyInput<Caller, P, Q, B>
