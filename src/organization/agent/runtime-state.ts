import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'
import { SHOWN_STATUSES } from './lifecycle.ts'
import { deleteSessions, findAgentWithFacts, findLastRun, listSessions } from './queries.ts'

/** A session of a program, which the next run of the agent on the issue resumes. */
export const Session = v.strictObject({
  issueId: v.nullable(field.id),
  adapterType: v.string(),
  sessionId: v.string(),
  cwd: v.string(),
  updatedAt: field.timestamp,
})

/** The last run, next timer wake and sessions of an agent, which are not configuration. */
export const RuntimeState = v.strictObject({
  agentId: field.id,
  companyId: field.id,
  adapterType: v.string(),
  status: v.picklist(SHOWN_STATUSES),
  failures: field.integer,
  timerDueAt: v.nullable(field.timestamp),
  lastHeartbeatAt: v.nullable(field.timestamp),
  lastRun: v.nullable(
    v.strictObject({
      id: field.id,
      status: v.string(),
      issueId: v.nullable(field.id),
      error: v.nullable(v.string()),
      createdAt: field.timestamp,
      startedAt: v.nullable(field.timestamp),
      finishedAt: v.nullable(field.timestamp),
    }),
  ),
  sessions: v.array(Session),
})

/** The maximum number of sessions in a response, latest first. */
const SHOWN_SESSIONS = 100

export function runtimeStateOf(ctx: Context, agent: AgentRow): v.InferOutput<typeof RuntimeState> {
  const run = findLastRun(ctx.db, { agentId: agent.id })
  return {
    agentId: agent.id,
    companyId: agent.company_id,
    adapterType: agent.adapter_type,
    status: findAgentWithFacts(ctx.db, { id: agent.id, now: ctx.now })!.shown_status,
    failures: agent.failures,
    timerDueAt: agent.timer_due_at,
    lastHeartbeatAt: agent.last_heartbeat_at,
    lastRun: run
      ? {
          id: run.id,
          status: run.status,
          issueId: run.issue_id,
          error: run.error,
          createdAt: run.created_at,
          startedAt: run.started_at,
          finishedAt: run.finished_at,
        }
      : null,
    sessions: sessionsOf(ctx, agent),
  }
}

/** Returns the latest sessions of an agent. */
export const sessionsOf = (ctx: Context, agent: AgentRow): v.InferOutput<typeof Session>[] =>
  listSessions(ctx.db, { agentId: agent.id, limit: SHOWN_SESSIONS }).map((session) => ({
    issueId: session.issue_key || null,
    adapterType: session.adapter_type,
    sessionId: session.session_id,
    cwd: session.cwd,
    updatedAt: session.updated_at,
  }))

/**
 * Forgets the sessions of an agent, so that its next runs start new ones.
 *
 * @param issueId only the session on this issue; undefined for all sessions
 */
export function resetSessions(ctx: Context, caller: Caller, agent: AgentRow, issueId: string | undefined): void {
  if (deleteSessions(ctx.db, { agentId: agent.id, issueId }) === 0) return
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.sessions_reset',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, issueId: issueId ?? null },
  })
}
