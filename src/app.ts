import type { AccessContext } from './access/auth/sign-in.ts'
import { createRequestAccess } from './access/request/request-access.ts'
import { ALL_ENDPOINTS } from './clients/routes.ts'
import { fetchFrom } from './http/in-process.ts'
import { mount } from './http/mount.ts'
import { createAgentCredentials } from './runtime/executor/live-run-credentials.ts'
import type { RunTokens } from './runtime/executor/run-token.ts'

/**
 * Creates the whole API. `handle` is for a listener, which passes each request
 * through the gate first; `request` sends a request without a socket.
 */
export function createApp(ctx: AccessContext, tokens: RunTokens) {
  const handle = mount(ctx, ALL_ENDPOINTS, createRequestAccess(ctx, createAgentCredentials(tokens)))
  return { handle, request: fetchFrom(handle) }
}
