/** A frame of the event stream. A frame without a type only says where the stream is. */
export interface Frame {
  id: number
  type?: string
  data?: Record<string, unknown>
}

export type ConnectionState = 'connecting' | 'online' | 'offline'

interface StreamOptions {
  companyId: string
  /** The last event that is known: the stream goes on after it. */
  lastId: () => number
  onFrame: (frame: Frame) => void
  onState: (state: ConnectionState) => void
  stop: AbortSignal
}

/** How long to wait before the next try, in milliseconds, and at most. */
const RETRY_MS = 500
const MAX_RETRY_MS = 8_000

/** The server sends something at least every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 40_000

/** Reads a company's event stream until it is aborted. It connects again when the connection is lost. */
export async function readStream({ companyId, lastId, onFrame, onState, stop }: StreamOptions): Promise<void> {
  for (let failures = 0; !stop.aborted; failures++) {
    // One failure is a restart of the server, or a laptop that wakes: it is shown when the next try fails too.
    if (failures > 1) onState('offline')
    if (failures > 0) await pause(Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS), stop)
    if (stop.aborted) return
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    stop.addEventListener('abort', abort)
    // A connection outlives its network. A server on this machine is reached all the same: the next try finds it.
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
      // The next try follows.
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

/** Waits, or less when the network comes back. */
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
