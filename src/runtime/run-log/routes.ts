import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { wholeNumber } from '../../http/list.ts'
import { alias, reply } from '../../http/route.ts'
import { EVENT_STREAM, STREAM_HEADERS } from '../../http/sse.ts'
import { getRun } from '../../organization/run/get.ts'
import { runFolder } from '../process/run-files.ts'
import { streamLog } from './log-stream.ts'
import { readLog } from './read-log.ts'

const offset = v.optional(v.pipe(wholeNumber(0, 999_999_999_999_999), v.description('Where to begin, in bytes.')), '0')

const log = route({
  id: 'runs.log',
  method: 'GET',
  path: '/api/runs/:runId/log',
  summary: 'Read the output of a run, from an offset',
  description:
    'While the run is live, request the next part with `nextOffset`. Tokens and secrets are replaced with `[redacted]`.',
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
    const { text, nextOffset, isComplete } = readLog(runFolder(ctx.config, run.id), query.offset, query.limit)
    return { runId: run.id, text, nextOffset, isComplete: isComplete || (run.finished_at !== null && text === '') }
  },
})

const stream = route({
  id: 'runs.logStream',
  method: 'GET',
  path: '/api/runs/:runId/log/stream',
  summary: 'Follow the output of a run, live, as Server-Sent Events',
  description:
    'Each `log` event contains `text`; its id is the offset after that text. One `end` event says how the run ended. With `Last-Event-ID` or `offset`, the stream resumes from there.',
  who: [board, agent],
  query: v.object({ offset }),
  responses: { 200: EVENT_STREAM },
  run: (ctx, { caller, params, query, ...request }) => {
    const run = getRun(ctx, caller, params.runId)
    const lastEventId = request.header('last-event-id')
    const from = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : query.offset
    return reply(200, streamLog(ctx, run.id, from, request), STREAM_HEADERS)
  },
})

/** The endpoints that read the output of a run, each with the alias under which existing clients call it. */
export const runLogRoutes = [
  log,
  stream,
  alias(log, { id: 'heartbeatRuns.log', path: '/api/heartbeat-runs/:runId/log' }),
  alias(stream, { id: 'heartbeatRuns.events', path: '/api/heartbeat-runs/:runId/events' }),
]
