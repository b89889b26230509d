import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { type Input, route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, wholeNumber } from '../../http/list.ts'
import { alias, reply } from '../../http/route.ts'
import { EVENT_STREAM, STREAM_HEADERS } from '../../http/sse.ts'
import { getRun } from '../../organization/run/get.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { streamLog } from './log-stream.ts'
import { readRunLog } from './read-run-log.ts'
import { listRunEvents, RunEvent } from './run-events.ts'

const MAX_OFFSET = 999_999_999_999_999
const offset = v.optional(v.pipe(wholeNumber(0, MAX_OFFSET), v.description('The offset of the first byte.')), '0')

const log = route({
  id: 'runs.log',
  method: 'GET',
  path: '/api/runs/:runId/log',
  summary: 'Read the output of a run, from an offset',
  description:
    'While the run is live, request the next part with `nextOffset`. Tokens and secrets are replaced with `[redacted]`. For a deleted log (`logDeletedAt` of the run), the text is a sentence that says so.',
  who: [board, agent],
  query: v.object({
    offset,
    limit: v.optional(v.pipe(wholeNumber(16, 1_048_576), v.description('The maximum size, in bytes.')), '262144'),
  }),
  responses: {
    200: v.strictObject({ runId: field.id, text: v.string(), nextOffset: field.integer, isComplete: v.boolean() }),
  },
  run: (ctx, { caller, params, query }) => {
    const run = getRun(ctx, caller, params.runId)
    const { text, nextOffset, isComplete } = readRunLog(ctx, run, query.offset, query.limit)
    return { runId: run.id, text, nextOffset, isComplete: isComplete || (run.finished_at !== null && text === '') }
  },
})

const stream = route({
  id: 'runs.logStream',
  method: 'GET',
  path: '/api/runs/:runId/log/stream',
  summary: 'Stream the output of a run as Server-Sent Events',
  description:
    'Each `log` event contains `text`; its id is the offset after that text. One `end` event reports how the run ended. With `Last-Event-ID` or `offset`, the stream resumes from there.',
  who: [board, agent],
  query: v.object({ offset }),
  responses: { 200: EVENT_STREAM },
  run: (ctx, { caller, params, query, ...request }) => follow(ctx, getRun(ctx, caller, params.runId), query, request),
})

/** Streams the log of a run from the offset of the last event that the client received. */
function follow(
  ctx: Context,
  run: RunRow,
  query: { offset: number },
  request: Pick<Input, 'header' | 'drop' | 'isStillAuthorized'>,
) {
  const lastEventId = request.header('last-event-id')
  const from = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : query.offset
  return reply(200, streamLog(ctx, run.id, from, request), STREAM_HEADERS)
}

const events = route({
  id: 'runs.events',
  method: 'GET',
  path: '/api/runs/:runId/events',
  summary: 'List the activity of a run, oldest first, or stream its output',
  description:
    'The list contains the activity that the run caused, including its start and end. With `Accept: text/event-stream`, the response is the stream of GET /api/runs/:runId/log/stream.',
  who: [board, agent],
  query: v.object({
    afterSeq: v.optional(
      v.pipe(wholeNumber(0, MAX_OFFSET), v.description('Returns only the events after this `seq`.')),
      '0',
    ),
    limit: LIST_QUERY.limit,
    offset,
  }),
  streams: true,
  responses: { 200: v.array(RunEvent) },
  run: (ctx, { caller, params, query, ...request }) => {
    const run = getRun(ctx, caller, params.runId)
    if (request.header('accept')?.includes(EVENT_STREAM)) return follow(ctx, run, query, request)
    return listRunEvents(ctx, run, query)
  },
})

/** The endpoints that read the output of a run, with aliases for existing clients. */
export const runLogRoutes = [
  log,
  stream,
  events,
  alias(log, { id: 'heartbeatRuns.log', path: '/api/heartbeat-runs/:runId/log' }),
  alias(events, { id: 'heartbeatRuns.events', path: '/api/heartbeat-runs/:runId/events' }),
]
