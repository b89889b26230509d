import { reply } from '../../http/route.ts'
import { EVENT_STREAM, frame, keepAuthorized, STREAM_HEADERS } from '../../http/sse.ts'
import type { Context } from '../../platform/context.ts'
import { agent, board } from '../caller/who.ts'
import type { Input } from '../route.ts'
import { route } from '../route.ts'

/**
 * The maximum number of bytes that wait for a client before it counts as too
 * slow; more than all stored events together.
 */
const WAITING_BYTES = 1024 * 1024

export const eventRoutes = [
  route({
    id: 'events.watch',
    method: 'GET',
    path: '/api/companies/:companyId/events',
    summary: 'Stream the events of a company as Server-Sent Events',
    description:
      'Each event has an id, a type and data. With `Last-Event-ID`, the stream resumes after that event. If the server no longer has it, the stream begins with the event `reset`: load your data again.',
    who: [board, agent],
    responses: { 200: EVENT_STREAM },
    run: (ctx, input) => reply(200, watch(ctx, input.params.companyId, input), STREAM_HEADERS),
  }),
]

/**
 * Returns the live events of a company as the bytes of an event stream, until
 * the client disconnects or the server stops.
 */
function watch(
  ctx: Context,
  companyId: string,
  { header, drop, isStillAuthorized }: Input,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let stop = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let open = true
        const end = () => {
          if (open) controller.close()
          stop()
        }
        const send = (text: string) => {
          if (!open) return
          controller.enqueue(encoder.encode(text))
          if (controller.desiredSize! > 0) return
          end()
          drop()
        }
        const endChecks = keepAuthorized(isStillAuthorized, {
          onHeartbeat: () => send(': alive\n\n'),
          onRefused: end,
        })
        const unsubscribe = ctx.events.subscribe((event) => {
          if (event.companyId === companyId) send(frame(event))
        }, end)
        stop = () => {
          open = false
          unsubscribe()
          endChecks()
        }
        send(resume(ctx, companyId, header('last-event-id')))
      },
      cancel: () => stop(),
    },
    { highWaterMark: WAITING_BYTES, size: (chunk) => chunk.byteLength },
  )
}

/** Returns the beginning of a stream: the current event id, and the events that the client missed. */
function resume(ctx: Context, companyId: string, lastEventId: string | undefined): string {
  const here = `id: ${ctx.events.last}\n`
  if (!lastEventId) return `${here}: watching\n\n`
  const missed = /^\d{1,16}$/.test(lastEventId) ? ctx.events.since(Number(lastEventId)) : undefined
  if (!missed) return `${here}event: reset\ndata: {}\n\n`
  const frames = missed.filter((event) => event.companyId === companyId).map(frame)
  return `${frames.join('')}${here}: watching\n\n`
}
