/** The media type of Server-Sent Events. */
export const EVENT_STREAM = 'text/event-stream'

/** The headers of an answer that is a stream of Server-Sent Events. */
export const STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  // Proxies that buffer answers are asked not to.
  'x-accel-buffering': 'no',
}

/** How often a silent stream says that it lives, in milliseconds; proxies cut silent ones. */
export const HEARTBEAT_MS = 15_000

/** One event as it goes over the wire. */
export const frame = ({ id, type, data }: { id: number; type: string; data: unknown }) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
