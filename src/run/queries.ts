import type { Db } from '../database/db.ts'
import { prepared, sql } from '../database/sql.ts'

const waitingWake = prepared((of: { agentId: string }) =>
  sql.selectFrom('wake').selectAll().where('agent_id', '=', of.agentId).where('status', '=', 'waiting'),
)

/** The agent's waiting wake; there is at most one. */
export const findWaitingWake = (db: Db, of: { agentId: string }) => db.first(waitingWake(of))

const liveRunOnIssue = prepared((of: { issueId: string; agentId: string }) =>
  sql
    .selectFrom('run')
    .selectAll()
    .where('issue_id', '=', of.issueId)
    .where('agent_id', '=', of.agentId)
    .where('finished_at', 'is', null)
    .limit(1),
)

/** The live run of an agent that works on an issue, if there is one. */
export const findLiveRunOnIssue = (db: Db, of: { issueId: string; agentId: string }) => db.first(liveRunOnIssue(of))
