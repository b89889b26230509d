import { effect, signal } from '@preact/signals'
import { forgetResponses } from './boot-record.ts'
import { type ConnectionState, type Frame, readStream } from './stream.ts'

/** A live event of the company. `data` of an activity has at least these fields. */
export interface LiveEvent {
  type: string
  data: {
    actorType?: string
    actorId?: string
    entityType?: string
    entityId?: string
    /** The summary of the entity for lists: its title or name, and its status. */
    entity?: Record<string, unknown> | null
    agentId?: string | null
    runId?: string | null
    createdAt?: string
    [key: string]: unknown
  }
}

/** The state of the event stream. The page displays `offline`, but not `connecting`. */
export const connection = signal<ConnectionState>('connecting')

type Listener = (event: LiveEvent) => void
const listeners = new Set<Listener>()

/** Calls a function with each event of the open company. @returns a function that unsubscribes */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The event that reloads everything, because the page is too old to resume the stream. */
export const RESET: LiveEvent = { type: 'reset', data: {} }

const publish = (event: LiveEvent) => {
  forgetResponses()
  for (const listener of listeners) listener(event)
}

/** The messages between the tabs of a browser. */
type Message =
  | { kind: 'frame'; frame: Frame }
  | { kind: 'state'; state: ConnectionState }
  /** Sent by a new tab: requests the events after this one. */
  | { kind: 'hello'; since: number }

/** The number of frames that are stored for new tabs. */
const KEPT = 300

/**
 * Follows a company's events until it is aborted. A browser opens only six
 * connections to a server, so only the tab with the lock reads the stream. It
 * forwards the events to the other tabs. When it closes, another tab gets the
 * lock and resumes after the last event that it received.
 *
 * The page's HTML contains the id of the latest event at the time of the
 * request. The first connection resumes after it, so no event is lost.
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
    // Locks exist only on pages that are served over HTTPS or from localhost.
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

  /** Reads the stream for all tabs, until this tab closes or opens another company. */
  const lead = async () => {
    const stored: Frame[] = []
    let keptSince = last
    const onFrame = (frame: Frame) => {
      take(frame)
      tell({ kind: 'frame', frame })
      stored.push(frame)
      if (stored.length > KEPT) keptSince = stored.shift()!.id
    }
    channel.addEventListener('message', ({ data: message }: MessageEvent<Message>) => {
      if (message.kind !== 'hello') return
      tell({ kind: 'state', state: connection.peek() })
      const missed = message.since < keptSince ? [{ id: last, type: 'reset' }] : stored
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

/** Calls a function when the connection is restored. */
export const onReconnect = (back: () => void) => {
  let before = connection.peek()
  return effect(() => {
    if (before === 'offline' && connection.value === 'online') back()
    before = connection.value
  })
}
