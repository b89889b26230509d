import { agents, may, pathTo } from '../../state/company.ts'
import type { InboxItem } from '../../state/inbox.ts'
import { resumeAgent, runAgent } from '../agents/actions.ts'

/** Returns the address of an item's page. */
export function placeOf({ kind, issueIdentifier, commentId, agentId }: InboxItem): string {
  if (issueIdentifier) return pathTo(`issues/${issueIdentifier}${commentId ? `#comment-${commentId}` : ''}`)
  if (kind === 'budget' && !agentId) return pathTo('costs')
  if (kind === 'failure' && !agentId) return pathTo('webhooks')
  const agent = agents.row(agentId ?? '').peek()
  return agent ? pathTo(`agents/${agent.urlKey}`) : pathTo('approvals')
}

/** Runs the agent of a failed run or of stale work again. */
export async function repair({ kind, agentId }: InboxItem): Promise<void> {
  const agent = agents.row(agentId ?? '').peek()
  if (!agent || (kind !== 'failure' && kind !== 'stale')) return
  if (agent.status === 'paused') {
    if (may('admin')) await resumeAgent(agent)
  } else if (may('member')) await runAgent(agent)
}
