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
    const { agent_id: agentId, company_id: companyId, role, scope, expires_at: keyExpiresAt } = found
    return { agentId, companyId, role, runId: null, keyExpiresAt, scope }
  },
  findAgentOfRunToken: (ctx, token, acceptsEnded) => findAgentOfLiveRun(ctx, tokens, token, acceptsEnded),
})

/**
 * Returns the agent of a run token. The token is valid until its run ends or
 * its agent is terminated.
 *
 * @param acceptsEnded whether the token of a run in a placement is valid after that: its machine may report late
 * @throws AppError 401 `run_ended`
 */
export async function findAgentOfLiveRun(
  ctx: Pick<Context, 'db'>,
  tokens: RunTokens,
  token: string,
  acceptsEnded = false,
) {
  const runId = await tokens.verify(token)
  const run = runId === undefined ? undefined : findRunOfToken(ctx.db, { runId })
  const isLateReport = acceptsEnded && run?.placement != null
  if (!run || !(isLateReport || mayCall(run.status))) return undefined
  if (run.finished_at !== null && !isLateReport) {
    throw new AppError('run_ended', 'The run of this token has ended. A run token is valid only during its run.')
  }
  const { agent_id: agentId, company_id: companyId, role } = run
  return { agentId, companyId, role, runId: run.id, keyExpiresAt: null, scope: 'work' as const }
}

const mayCall = (agentStatus: string) => agentStatus !== 'terminated' && agentStatus !== 'pending_approval'
