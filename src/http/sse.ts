/** The media type of Server-Sent Events. */
export const EVENT_STREAM = 'text/event-stream'

/** The headers of a stream of Server-Sent Events. */
export const STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  // Asks proxies not to buffer the response.
  'x-accel-buffering': 'no',
}

/** The interval of heartbeats in a stream without events, in milliseconds. Proxies close streams without data. */
export const HEARTBEAT_MS = 15_000

/** Formats one event for the stream. */
export const frame = ({ id, type, data }: { id: number; type: string; data: unknown }) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
