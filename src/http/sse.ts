/** The media type of Server-Sent Events. */
export const EVENT_STREAM = 'text/event-stream'

/** The headers of a stream of Server-Sent Events. */
export const STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  // Asks proxies not to buffer the response.
  'x-accel-buffering': 'no',
}

/** The interval at which a stream authorizes its request again, in milliseconds. After a sign-out, a stream ends within a second. */
const AUTHORIZE_MS = 750

/** The number of checks per heartbeat: an idle stream sends one every 15 s, because proxies close idle connections. */
const CHECKS_PER_HEARTBEAT = 20

/**
 * Authorizes the request of a stream again and again: a revoked key, an ended
 * session or an ended run must not go on watching.
 *
 * @returns a function that ends the checks
 */
export function keepAuthorized(
  isStillAuthorized: () => Promise<boolean>,
  { onHeartbeat, onRefused }: { onHeartbeat: () => void; onRefused: () => void },
): () => void {
  let checks = 0
  let isOver = false
  const timer = setInterval(async () => {
    const isHeartbeat = ++checks % CHECKS_PER_HEARTBEAT === 0
    const isAuthorized = await isStillAuthorized()
    if (isOver) return
    if (!isAuthorized) onRefused()
    else if (isHeartbeat) onHeartbeat()
  }, AUTHORIZE_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

/** Formats one event for the stream. */
export const frame = ({ id, type, data }: { id: number; type: string; data: unknown }) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
