import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { alias, reply } from '../../http/route.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { assertMayCommand } from '../../organization/agent/command.ts'
import { getAgent } from '../../organization/agent/get.ts'
import { acceptsWake, requestWake } from '../../organization/agent/request-wake.ts'
import { RuntimeState, resetSessions, runtimeStateOf } from '../../organization/agent/runtime-state.ts'
import { AGENT_QUERY } from '../../organization/agent/show.ts'
import { choosePlacement } from '../../organization/placement/resolve.ts'
import { getRun, showRun } from '../../organization/run/get.ts'
import { Run } from '../../organization/run/run.ts'
import { requestStop } from '../../organization/run/stop.ts'
import { parseReasons, Reason, type WakeRow } from '../../organization/wake/wake.ts'
import { AppError } from '../../platform/errors.ts'
import { getReferredIssue } from '../../work/issue/references.ts'
import { recheckProgram } from '../executor/missing-program.ts'
import { listBlockingConditions, StartCondition } from '../scheduler/start-conditions.ts'

/** A waiting wake as the API returns it. */
const Wake = v.strictObject({
  id: field.id,
  agentId: field.id,
  status: v.picklist(['waiting', 'claimed', 'dropped']),
  reasons: v.array(Reason),
  notBefore: v.nullable(field.timestamp),
  createdAt: field.timestamp,
  heldBy: v.pipe(
    v.array(StartCondition),
    v.description(
      'The conditions that prevent the run from starting now: a freeze, a pause, a budget, a limit of live runs. Empty if it starts immediately.',
    ),
  ),
})

const toWake = (row: WakeRow, heldBy: StartCondition[]): v.InferOutput<typeof Wake> => ({
  id: row.id,
  agentId: row.agent_id,
  status: row.status,
  reasons: parseReasons(row),
  notBefore: row.not_before,
  createdAt: row.created_at,
  heldBy,
})

const cancel = route({
  id: 'runs.cancel',
  method: 'POST',
  path: '/api/runs/:runId/cancel',
  summary: 'Stop a run and all of its processes',
  description: 'Responds immediately. The processes end within the grace period. A run that has ended does not change.',
  who: [board, agent],
  role: 'member',
  responses: { 200: Run },
  run: (ctx, { caller, params }) =>
    ctx.write(() => {
      const run = getRun(ctx, caller, params.runId)
      assertMayCommand(ctx, caller, run.agent_id, 'cancel its runs')
      return showRun(ctx, requestStop(ctx, run.id, 'cancelled') ?? run)
    }),
})

const invoke = route({
  id: 'agents.invoke',
  method: 'POST',
  path: '/api/agents/:agentId/heartbeat/invoke',
  summary: 'Wake an agent now',
  who: [board, agent],
  role: 'member',
  body: v.strictObject({
    issueId: v.optional(v.nullable(field.reference)),
    forceFreshSession: v.optional(
      v.nullable(
        v.pipe(
          v.boolean(),
          v.description('Whether the run starts a new session instead of the last one on the issue.'),
        ),
      ),
    ),
    reason: v.optional(v.nullable(field.text)),
    source: v.optional(v.nullable(v.string())),
    triggerDetail: v.optional(v.nullable(v.string())),
    payload: v.optional(v.nullable(field.sentObject)),
    idempotencyKey: v.optional(v.nullable(v.string())),
  }),
  bodyOptional: true,
  responses: { 202: Wake },
  run: (ctx, { caller, params, body }) =>
    ctx.write(() => {
      const target = getAgent(ctx, caller, params.agentId)
      assertMayCommand(ctx, caller, target.id, 'wake it')
      if (target.status === 'terminated' || target.status === 'pending_approval' || target.status === 'paused') {
        throw new AppError(
          'agent_not_ready',
          `${target.name} is ${target.status}, so it cannot run.${remedyOf(target)}`,
        )
      }
      const issue = body.issueId ? getReferredIssue(ctx, target.company_id, 'issueId', body.issueId) : undefined
      if (!acceptsWake(target, caller, 'on_demand')) {
        const why =
          target.adapter_type === 'none'
            ? 'has the adapter none: the server does not start its runs'
            : 'accepts only the wakes of its timer (wakeOnDemand)'
        throw new AppError('agent_not_ready', `${target.name} ${why}.`)
      }
      const activityId = recordActivity(ctx, caller, {
        companyId: target.company_id,
        action: 'agent.invoked',
        entity: { type: 'agent', id: target.id },
        agentId: target.id,
        details: { name: target.name, issueId: issue?.id ?? null, reason: body.reason ?? null },
      })
      const wake = requestWake(ctx, caller, {
        agentId: target.id,
        source: 'on_demand',
        issueId: issue?.id ?? null,
        freshSession: body.forceFreshSession === true,
        cause: { activityId },
      })!
      const placement = choosePlacement(ctx, { agentId: target.id, issueId: wake.issue_id })
      if (!placement) recheckProgram(ctx, target, wake.issue_id)
      const held = getAgent(ctx, caller, target.id)
      return reply(202, toWake(wake, listBlockingConditions(ctx, held, wake)))
    }),
})

/** Returns why an agent is paused and what to do; empty for another status. */
function remedyOf({ status, pause_message, pause_reason }: AgentRow): string {
  if (status !== 'paused') return ''
  return `${pause_message === null ? '' : ` ${pause_message}`}${pause_reason === 'budget' ? '' : ' Resume it first.'}`
}

const resetSession = route({
  id: 'agents.resetSessions',
  method: 'POST',
  path: '/api/agents/:agentId/runtime-state/reset-session',
  summary: 'Forget the sessions of an agent, so that its next runs start new ones',
  who: [board, agent],
  role: 'member',
  query: AGENT_QUERY,
  body: v.strictObject({
    issueId: v.optional(
      v.pipe(v.nullable(field.reference), v.description('Only the session on this issue. Default: all sessions.')),
    ),
    taskKey: v.optional(v.pipe(v.nullable(field.reference), v.description('The same as `issueId`.'))),
  }),
  bodyOptional: true,
  responses: { 200: RuntimeState },
  run: (ctx, { caller, params, query, body }) =>
    ctx.write(() => {
      const of = getAgent(ctx, caller, params.agentId, query.companyId)
      assertMayCommand(ctx, caller, of.id, 'forget its sessions')
      const ref = body.issueId ?? body.taskKey
      resetSessions(ctx, caller, of, ref ? getReferredIssue(ctx, of.company_id, 'issueId', ref).id : undefined)
      return runtimeStateOf(ctx, of)
    }),
})

/** The endpoints that start and stop runs manually, each with an alias for existing clients. */
export const runControlRoutes = [
  cancel,
  invoke,
  resetSession,
  alias(cancel, { id: 'heartbeatRuns.cancel', path: '/api/heartbeat-runs/:runId/cancel' }),
  alias(invoke, { id: 'agents.wakeup', path: '/api/agents/:agentId/wakeup' }),
]
