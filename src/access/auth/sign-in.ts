import { createRateCounter, type RateCounter } from '../../http/rate-limit.ts'
import type { Config } from '../../platform/config.ts'
import type { Context } from '../../platform/context.ts'
import type { CookieNames } from './cookies.ts'
import type { Identity } from './identity.ts'
import { createLocalAccess, type LocalAccess } from './local-access.ts'
import { createOneTimeLink, type OneTimeLink } from './one-time-link.ts'
import { createResetLinks, type ResetLinks } from './reset-links.ts'

/** How people and browsers authenticate on this server. */
export interface SignIn {
  /** Passwords and sessions; only in authenticated mode. */
  identity: Identity | undefined
  /** The link that creates the first owner; only in authenticated mode. */
  setup: OneTimeLink | undefined
  /** The links that reset forgotten passwords. */
  resets: ResetLinks
  /** Decides who is the board in local trusted mode. */
  local: LocalAccess
  /** The counters of the rate limits. */
  rates: RateCounter
  cookies: CookieNames
}

/** The context of the routes: the dependencies of use cases, and how people sign in. */
export interface AccessContext extends Context {
  signIn: SignIn
}

export const createSignIn = (config: Config, cookies: CookieNames, identity?: Identity): SignIn => ({
  identity,
  setup: identity && createOneTimeLink(),
  resets: createResetLinks(),
  local: createLocalAccess(config, cookies.local),
  rates: createRateCounter(),
  cookies,
})
