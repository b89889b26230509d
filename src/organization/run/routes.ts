import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import { agent, board } from '../../access/who.ts'
import * as field from '../../http/fields.ts'
import { decodeCursor, LIST_QUERY, Page, totalOf, wholeNumber } from '../../http/list.ts'
import { alias, reply, route } from '../../http/route.ts'
import { EVENT_STREAM, STREAM_HEADERS } from '../../http/sse.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { readLog, runFolder } from '../../runtime/run-log/log.ts'
import { streamLog } from '../../runtime/run-log/log-stream.ts'
import { getAgent } from '../agent/get.ts'
import { refusesWakes, requestWake, type WakeReason } from '../wake/wake.ts'
import { getIssueRef, getRun, mayCommand } from './get.ts'
import { costsOfRuns, findIssueByRef, listRuns } from './queries.ts'
import { Reason, RUN_STATUSES, Run, type RunRow, type RunStatus, toRun } from './run.ts'
import { requestStop } from './stop.ts'

/** A waiting wake as the API shows it. */
const Wake = v.strictObject({
  id: field.id,
  agentId: field.id,
  status: v.picklist(['waiting', 'claimed', 'dropped']),
  reasons: v.array(Reason),
  notBefore: v.nullable(field.timestamp),
  createdAt: field.timestamp,
})

/** What every list of runs takes. */
export const RUN_QUERY = {
  agentId: v.optional(v.string()),
  status: v.optional(v.pipe(v.string(), v.description('A comma-separated list of statuses.'))),
}

const listQuery = v.object({
  ...LIST_QUERY,
  ...RUN_QUERY,
  issueId: v.optional(v.string()),
})

const list = route({
  id: 'runs.list',
  method: 'GET',
  path: '/api/companies/:companyId/runs',
  summary: 'List the runs of a company, newest first',
  who: [board, agent],
  query: listQuery,
  responses: { 200: v.array(Run) },
  run: (ctx, { params, query }) => pageOfRuns(ctx, params.companyId, query, false),
})

const get = route({
  id: 'runs.get',
  method: 'GET',
  path: '/api/runs/:runId',
  summary: 'Get a run',
  who: [board, agent],
  responses: { 200: Run },
  run: (ctx, { caller, params }) => show(ctx, getRun(ctx, caller, params.runId)),
})

const offset = v.optional(v.pipe(wholeNumber(0, 999_999_999_999_999), v.description('Where to begin, in bytes.')), '0')

const log = route({
  id: 'runs.log',
  method: 'GET',
  path: '/api/runs/:runId/log',
  summary: 'Read what a run wrote, from an offset on',
  description: 'Ask again with `nextOffset` while the run goes on. Tokens and secrets stand in it as `[redacted]`.',
  who: [board, agent],
  query: v.object({
    offset,
    limit: v.optional(v.pipe(wholeNumber(16, 1_048_576), v.description('How many bytes at most.')), '262144'),
  }),
  responses: {
    200: v.strictObject({ runId: field.id, text: v.string(), nextOffset: v.number(), isComplete: v.boolean() }),
  },
  run: (ctx, { caller, params, query }) => {
    const run = getRun(ctx, caller, params.runId)
    const { text, nextOffset, done } = readLog(runFolder(ctx.config, run.id), query.offset, query.limit)
    return { runId: run.id, text, nextOffset, isComplete: done || (run.finished_at !== null && text === '') }
  },
})

const stream = route({
  id: 'runs.logStream',
  method: 'GET',
  path: '/api/runs/:runId/log/stream',
  summary: 'Follow what a run writes, live, as Server-Sent Events',
  description:
    'Each `log` event carries `text` and, as its id, the offset behind it; one `end` event tells how the run ended. With `Last-Event-ID`, or `offset`, the stream goes on from there.',
  who: [board, agent],
  query: v.object({ offset }),
  responses: { 200: EVENT_STREAM },
  run: (ctx, { caller, params, query, header, drop }) => {
    const run = getRun(ctx, caller, params.runId)
    const seen = header('last-event-id')
    const from = seen !== undefined && /^\d{1,15}$/.test(seen) ? Number(seen) : query.offset
    return reply(200, streamLog(ctx, run.id, from, { header, drop }), STREAM_HEADERS)
  },
})

const cancel = route({
  id: 'runs.cancel',
  method: 'POST',
  path: '/api/runs/:runId/cancel',
  summary: 'Stop a run and everything it started',
  description: 'Answers at once; the processes are gone within the grace period. A run that has ended stays as it is.',
  who: [board, agent],
  responses: { 200: Run },
  run: (ctx, { caller, params }) =>
    ctx.write(() => {
      const run = getRun(ctx, caller, params.runId)
      mayCommand(ctx, caller, run.agent_id, 'cancel its runs')
      return show(ctx, requestStop(ctx, run.id, 'cancelled') ?? run)
    }),
})

const invoke = route({
  id: 'agents.invoke',
  method: 'POST',
  path: '/api/agents/:agentId/heartbeat/invoke',
  summary: 'Wake an agent now',
  who: [board, agent],
  body: v.strictObject({
    issueId: v.optional(v.nullable(field.reference)),
    reason: v.optional(v.nullable(field.text)),
    source: v.optional(v.nullable(v.string())),
    triggerDetail: v.optional(v.nullable(v.string())),
    payload: v.optional(v.nullable(field.jsonObject)),
    idempotencyKey: v.optional(v.nullable(v.string())),
  }),
  bodyOptional: true,
  responses: { 202: Wake },
  run: (ctx, { caller, params, body }) =>
    ctx.write(() => {
      const target = getAgent(ctx, caller, params.agentId)
      mayCommand(ctx, caller, target.id, 'wake it')
      if (target.status === 'terminated' || target.status === 'pending_approval' || target.status === 'paused') {
        throw new AppError('agent_not_ready', `${target.name} is ${target.status}, so it cannot run.`)
      }
      const issue = body.issueId ? getIssueRef(ctx, target.company_id, body.issueId) : undefined
      if (refusesWakes(target, caller, 'on_demand')) {
        const why =
          target.adapter_type === 'none'
            ? 'works elsewhere and is not started from here (adapter none)'
            : "takes no wakes but its timer's (wakeOnDemand)"
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
        cause: { activityId },
      })!
      return reply(202, {
        id: wake.id,
        agentId: wake.agent_id,
        status: wake.status,
        reasons: JSON.parse(wake.reasons) as WakeReason[],
        notBefore: wake.not_before,
        createdAt: wake.created_at,
      })
    }),
})

const live = route({
  id: 'runs.live',
  method: 'GET',
  path: '/api/companies/:companyId/live-runs',
  summary: 'List the runs that have not ended',
  who: [board, agent],
  query: listQuery,
  responses: { 200: v.array(Run) },
  run: (ctx, { params, query }) => pageOfRuns(ctx, params.companyId, query, true),
})

/** The routes of runs; the second half are the names that clients in the field use for the same. */
export const runRoutes = [
  list,
  live,
  get,
  log,
  stream,
  cancel,
  invoke,
  alias(list, { id: 'heartbeatRuns.list', path: '/api/companies/:companyId/heartbeat-runs' }),
  alias(get, { id: 'heartbeatRuns.get', path: '/api/heartbeat-runs/:runId' }),
  alias(log, { id: 'heartbeatRuns.log', path: '/api/heartbeat-runs/:runId/log' }),
  alias(stream, { id: 'heartbeatRuns.events', path: '/api/heartbeat-runs/:runId/events' }),
  alias(cancel, { id: 'heartbeatRuns.cancel', path: '/api/heartbeat-runs/:runId/cancel' }),
  alias(invoke, { id: 'agents.wakeup', path: '/api/agents/:agentId/wakeup' }),
]

/** A page of runs, newest first, as the query asks. */
export function pageOfRuns(ctx: Context, companyId: string, query: v.InferOutput<typeof listQuery>, live: boolean) {
  const { limit, agentId, issueId } = query
  const filter = {
    companyId,
    agentId,
    issueId: issueId === undefined ? undefined : (findIssueByRef(ctx.db, { companyId, ref: issueId })?.id ?? issueId),
    statuses: query.status === undefined ? undefined : statusesOf(query.status),
    live,
  }
  const rows = listRuns(ctx.db, { ...filter, after: decodeCursor(query.after, ['string'])?.[0], limit })
  const total = totalOf(query, ctx.db, (db, all) => listRuns(db, { ...filter, ...all }))
  const costs = costsOfRuns(
    ctx.db,
    rows.map((row) => row.id),
  )
  return Page.of(rows, { limit, cursorOf: (row) => [row.id], show: (row) => toRun(row, costs.get(row.id)), total })
}

function statusesOf(list: string): RunStatus[] {
  const statuses = list.split(',').map((status) => status.trim())
  const unknown = statuses.filter((status) => !(RUN_STATUSES as readonly string[]).includes(status))
  if (unknown.length === 0) return statuses as RunStatus[]
  throw invalid([{ path: 'status', message: `knows ${RUN_STATUSES.join(', ')}, not ${unknown.join(', ')}` }])
}

const show = (ctx: Context, run: RunRow) => toRun(run, costsOfRuns(ctx.db, [run.id]).get(run.id))
