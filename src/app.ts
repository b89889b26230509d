import { Hono } from 'hono'
import type { AccessContext } from './access/auth/sign-in.ts'
import { createRequestAccess } from './access/request/request-access.ts'
import { ALL_ENDPOINTS } from './clients/routes.ts'
import { mount } from './http/mount.ts'
import { createAgentCredentials } from './runtime/executor/live-run-credentials.ts'
import type { RunTokens } from './runtime/executor/run-token.ts'

/** Creates the whole API as one Hono app. The listener passes each request through the gate first. */
export function createApp(ctx: AccessContext, tokens: RunTokens): Hono {
  const app = new Hono()
  mount(app, ctx, ALL_ENDPOINTS, createRequestAccess(ctx, createAgentCredentials(tokens)))
  return app
}
