/** A frame of the event stream. A frame without a type only updates the position in the stream. */
export interface Frame {
  id: number
  type?: string
  data?: Record<string, unknown>
}

export type ConnectionState = 'connecting' | 'online' | 'offline'

interface StreamOptions {
  companyId: string
  /** The id of the last known event. The stream resumes after it. */
  lastId: () => number
  onFrame: (frame: Frame) => void
  onState: (state: ConnectionState) => void
  stop: AbortSignal
}

/** The first and the longest delay before a retry, in milliseconds. */
const RETRY_MS = 500
const MAX_RETRY_MS = 8_000

/** The timeout of a silent stream. The server sends data at least every 15 s. */
const SILENCE_MS = 40_000

/** Reads a company's event stream until it is aborted. It reconnects when the connection is lost. */
export async function readStream({ companyId, lastId, onFrame, onState, stop }: StreamOptions): Promise<void> {
  for (let failures = 0; !stop.aborted; failures++) {
    // A single failure is normal, for example a restart of the server. The page displays only repeated failures.
    if (failures > 1) onState('offline')
    if (failures > 0) await pause(Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS), stop)
    if (stop.aborted) return
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    stop.addEventListener('abort', abort)
    // A connection can survive the loss of its network. If the server is on this machine, the retry still succeeds.
    addEventListener('offline', abort)
    let silence = setTimeout(abort, SILENCE_MS)
    try {
      const id = lastId()
      const response = await fetch(`/api/companies/${companyId}/events`, {
        headers: { accept: 'text/event-stream', ...(id > 0 && { 'last-event-id': String(id) }) },
        signal: attempt.signal,
      })
      if (!response.ok) throw new Error(String(response.status))
      let rest = ''
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        clearTimeout(silence)
        silence = setTimeout(abort, SILENCE_MS)
        failures = 0
        onState('online')
        const frames = `${rest}${value}`.split('\n\n')
        rest = frames.pop()!
        for (const text of frames) {
          const frame = parse(text)
          if (frame) onFrame(frame)
        }
      }
    } catch {
      // The loop retries.
    } finally {
      clearTimeout(silence)
      stop.removeEventListener('abort', abort)
      removeEventListener('offline', abort)
    }
  }
}

/** @returns undefined for a comment, which only keeps the connection alive */
function parse(text: string): Frame | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]
  const id = field('id')
  if (id === undefined) return undefined
  const type = field('event')
  return { id: Number(id), ...(type !== undefined && { type, data: JSON.parse(field('data') ?? '{}') }) }
}

/** Waits for the delay, or until the network is available again. */
const pause = (ms: number, stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      stop.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    stop.addEventListener('abort', end)
  })
