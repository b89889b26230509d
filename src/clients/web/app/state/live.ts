import { effect, signal } from '@preact/signals'

/** Something that happened in the company. `data` of an activity has at least these fields. */
export interface LiveEvent {
  type: string
  data: {
    actorType?: string
    actorId?: string
    entityType?: string
    entityId?: string
    agentId?: string | null
    runId?: string | null
    [key: string]: unknown
  }
}

/** Whether the event stream is connected. `offline` is shown to people; `connecting` is not. */
export const connection = signal<'connecting' | 'online' | 'offline'>('connecting')

type Listener = (event: LiveEvent) => void
const listeners = new Set<Listener>()

/** Calls a function with each event of the open company. @returns a function that ends it */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What the page shows is too old to be caught up with: load everything again. */
export const RESET: LiveEvent = { type: 'reset', data: {} }

const publish = (event: LiveEvent) => {
  for (const listener of listeners) listener(event)
}

/** How long to wait before the next try, in milliseconds, and at most. */
const RETRY_MS = 500
const MAX_RETRY_MS = 8_000

/** The server sends something at least every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 40_000

/**
 * Follows a company's events until it is aborted. The page's HTML names the
 * event that the server was at, so that nothing between it and the first
 * connection is missed; later connections resume after the last event seen.
 */
export function followEvents(companyId: string, stop: AbortSignal): void {
  let lastId = document.querySelector<HTMLMetaElement>('meta[name=event-id]')?.content ?? ''
  let failures = 0
  const connect = async () => {
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    stop.addEventListener('abort', abort)
    let silence = setTimeout(abort, SILENCE_MS)
    try {
      const response = await fetch(`/api/companies/${companyId}/events`, {
        headers: { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) },
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
        connection.value = 'online'
        const frames = `${rest}${value}`.split('\n\n')
        rest = frames.pop()!
        for (const frame of frames) lastId = read(frame) ?? lastId
      }
    } catch {
      // The next try follows.
    } finally {
      clearTimeout(silence)
      stop.removeEventListener('abort', abort)
    }
    if (stop.aborted) return
    failures++
    if (failures > 1) connection.value = 'offline'
    const timer = setTimeout(retry, Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS))
    function retry() {
      clearTimeout(timer)
      removeEventListener('online', retry)
      void connect()
    }
    addEventListener('online', retry)
  }
  void connect()
}

/** Publishes one frame of the stream. @returns its id */
function read(frame: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
  const type = field('event')
  const data = field('data')
  if (type === 'reset') publish(RESET)
  else if (type !== undefined && data !== undefined) publish({ type, data: JSON.parse(data) })
  return field('id')
}

/** Calls a function when the connection comes back. */
export const onReconnect = (back: () => void) => {
  let before = connection.peek()
  return effect(() => {
    if (before === 'offline' && connection.value === 'online') back()
    before = connection.value
  })
}
