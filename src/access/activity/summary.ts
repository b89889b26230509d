import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { ENTITY_SUMMARIES } from './live-events.ts'

interface Key {
  id: string
}

/** The queries of `ENTITY_SUMMARIES`. */
const SUMMARIES = {
  agent: prepared((key: Key) => sql.selectFrom('agent').select(['name', 'status']).where('id', '=', key.id)),
  approval: prepared((key: Key) => sql.selectFrom('approval').select(['type', 'status']).where('id', '=', key.id)),
  company: prepared((key: Key) => sql.selectFrom('company').select(['name', 'status']).where('id', '=', key.id)),
  goal: prepared((key: Key) => sql.selectFrom('goal').select(['title', 'status']).where('id', '=', key.id)),
  issue: prepared((key: Key) =>
    sql
      .selectFrom('issue')
      .select(['identifier', 'title', 'status', 'priority', 'assignee_agent_id as assigneeAgentId'])
      .where('id', '=', key.id),
  ),
  project: prepared((key: Key) => sql.selectFrom('project').select(['name', 'status']).where('id', '=', key.id)),
  run: prepared((key: Key) =>
    sql
      .selectFrom('run')
      .innerJoin('agent', 'agent.id', 'run.agent_id')
      .leftJoin('issue', 'issue.id', 'run.issue_id')
      .select(['run.status', 'run.agent_id as agentId', 'agent.name as agentName'])
      .select(['run.issue_id as issueId', 'issue.identifier', 'issue.title'])
      .where('run.id', '=', key.id),
  ),
} satisfies Record<keyof typeof ENTITY_SUMMARIES, unknown>

const userName = prepared((key: Key) => sql.selectFrom('auth_user').select('name').where('id', '=', key.id))

/**
 * Returns the summary of an entity for lists: its identifier, title or name,
 * and its status. A client that receives events can then update a row without a
 * request. Null if the entity does not exist or has another type.
 */
export const summaryOf = (db: Db, entity: { type: string; id: string }): Record<string, unknown> | null =>
  entity.type in SUMMARIES ? ((db.first<object>(SUMMARIES[entity.type as 'agent'](entity)) as never) ?? null) : null

/** Returns the name of an actor; null for the server and for the board of local trusted mode. */
export function actorName(db: Db, actor: { type: string; id: string }): string | null {
  if (actor.type === 'agent') return db.first(SUMMARIES.agent(actor))?.name ?? null
  return actor.type === 'user' ? (db.first(userName(actor))?.name ?? null) : null
}
