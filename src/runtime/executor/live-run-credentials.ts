import { isLive } from '../../access/caller/credential-expiry.ts'
import type { AgentCredentials } from '../../access/request/authenticate.ts'
import { findAgentOfKey, findRunOfToken, recordKeyUse } from '../../organization/agent/credentials.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { RunTokens } from './run-token.ts'

/** Authenticates agents by their long-lived keys and by the tokens of their live runs. */
export const createAgentCredentials = (tokens: RunTokens): AgentCredentials => ({
  findAgentOfKey(ctx, keyHash) {
    const found = findAgentOfKey(ctx.db, { hash: keyHash })
    if (!found || !isLive(ctx, found) || !mayCall(found.status)) return undefined
    recordKeyUse(ctx, found)
    return { agentId: found.agent_id, companyId: found.company_id, role: found.role, runId: null, scope: found.scope }
  },
  findAgentOfRunToken: (ctx, token) => findAgentOfLiveRun(ctx, tokens, token),
})

/**
 * Returns the agent of a run token. The token is valid until its run ends or
 * its agent is terminated.
 *
 * @throws AppError 401 `run_ended`
 */
export async function findAgentOfLiveRun(ctx: Pick<Context, 'db'>, tokens: RunTokens, token: string) {
  const runId = await tokens.verify(token)
  const run = runId === undefined ? undefined : findRunOfToken(ctx.db, { runId })
  if (!run || !mayCall(run.status)) return undefined
  if (run.finished_at !== null) {
    throw new AppError('run_ended', 'The run of this token has ended. A run token is valid only during its run.')
  }
  return { agentId: run.agent_id, companyId: run.company_id, role: run.role, runId: run.id, scope: 'work' as const }
}

const mayCall = (agentStatus: string) => agentStatus !== 'terminated' && agentStatus !== 'pending_approval'
