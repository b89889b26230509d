import { effect, signal } from '@preact/signals'
import { forgetResponses } from './boot-record.ts'
import { type ConnectionState, type Frame, readStream } from './stream.ts'

/** Something that happened in the company. `data` of an activity has at least these fields. */
export interface LiveEvent {
  type: string
  data: {
    actorType?: string
    actorId?: string
    entityType?: string
    entityId?: string
    /** What a list shows of the entity: its title or name, and its status. */
    entity?: Record<string, unknown> | null
    agentId?: string | null
    runId?: string | null
    createdAt?: string
    [key: string]: unknown
  }
}

/** Whether the event stream is connected. `offline` is shown to people; `connecting` is not. */
export const connection = signal<ConnectionState>('connecting')

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
  forgetResponses()
  for (const listener of listeners) listener(event)
}

/** What the tabs of one browser say to each other. */
type Message =
  | { kind: 'frame'; frame: Frame }
  | { kind: 'state'; state: ConnectionState }
  /** A tab that has just opened: what has it missed since this event? */
  | { kind: 'hello'; since: number }

/** So many frames are kept for tabs that open later. */
const KEPT = 300

/**
 * Follows a company's events until it is aborted. A browser opens only six
 * connections to a server, so one tab reads the stream and tells the others:
 * the one that holds the lock. When it closes, the next one gets the lock and
 * goes on after the last event that it saw.
 *
 * The page's HTML names the event that the server was at, so that nothing
 * between it and the first connection is missed.
 */
export function followEvents(companyId: string, stop: AbortSignal): void {
  let last = Number(document.querySelector<HTMLMetaElement>('meta[name=event-id]')?.content ?? 0)
  const take = (frame: Frame) => {
    if (frame.id <= last && frame.type !== 'reset') return
    last = frame.id
    if (frame.type === 'reset') publish(RESET)
    else if (frame.type !== undefined) publish({ type: frame.type, data: frame.data ?? {} })
  }
  const setState = (state: ConnectionState) => {
    connection.value = state
  }
  const lastId = () => last
  if (!('locks' in navigator)) {
    // A page that is not served over HTTPS or from localhost has no locks.
    void readStream({ companyId, lastId, onFrame: take, onState: setState, stop })
    return
  }
  const channel = new BroadcastChannel(`events of ${companyId}`)
  const tell = (message: Message) => channel.postMessage(message)
  stop.addEventListener('abort', () => channel.close())
  channel.onmessage = ({ data: message }: MessageEvent<Message>) => {
    if (message.kind === 'frame') take(message.frame)
    else if (message.kind === 'state') setState(message.state)
  }
  tell({ kind: 'hello', since: last })

  /** Reads the stream for all tabs, until this one closes or opens another company. */
  const lead = async () => {
    const kept: Frame[] = []
    let keptSince = last
    const onFrame = (frame: Frame) => {
      take(frame)
      tell({ kind: 'frame', frame })
      kept.push(frame)
      if (kept.length > KEPT) keptSince = kept.shift()!.id
    }
    channel.addEventListener('message', ({ data: message }: MessageEvent<Message>) => {
      if (message.kind !== 'hello') return
      tell({ kind: 'state', state: connection.peek() })
      const missed = message.since < keptSince ? [{ id: last, type: 'reset' }] : kept
      for (const frame of missed) if (frame.id > message.since) tell({ kind: 'frame', frame })
    })
    const onState = (state: ConnectionState) => {
      if (state === connection.peek()) return
      setState(state)
      tell({ kind: 'state', state })
    }
    await readStream({ companyId, lastId, onFrame, onState, stop })
  }
  navigator.locks.request(`events of ${companyId}`, { signal: stop }, lead).catch(() => {
    // The company was closed before this tab got the lock.
  })
}

/** Calls a function when the connection comes back. */
export const onReconnect = (back: () => void) => {
  let before = connection.peek()
  return effect(() => {
    if (before === 'offline' && connection.value === 'online') back()
    before = connection.value
  })
}
