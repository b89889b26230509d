import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { createEventReader, type EventReader } from '../../../../transcript/events.ts'

/** The output of a run that was read so far. */
export interface RunLog {
  reader: EventReader
  /** The raw output. */
  lines: readonly string[]
  /** Changes when there is new output, at most once per frame. */
  version: ReadonlySignal<number>
  /** Whether the complete output was read. */
  isComplete: ReadonlySignal<boolean>
  /** Whether the connection is lost. The browser reconnects automatically. */
  isLost: ReadonlySignal<boolean>
}

/** The time after the start in which output is not live, in milliseconds. Durations are not computed from it. */
const HISTORY_MS = 1_500

/** Follows the output of a run from its start to its end. */
export function useRunLog(runId: string): RunLog {
  const log = useMemo(() => createLog(runId), [runId])
  useEffect(() => log.connect(), [log])
  return log
}

function createLog(runId: string): RunLog & { connect(): () => void } {
  const reader = createEventReader()
  const lines: string[] = []
  const version = signal(0)
  const isComplete = signal(false)
  const isLost = signal(false)
  let offset = 0
  let rest = ''
  let isPending = false
  const tell = () => {
    if (isPending) return
    isPending = true
    requestAnimationFrame(() => {
      isPending = false
      version.value++
    })
  }
  return {
    reader,
    lines,
    version,
    isComplete,
    isLost,
    connect() {
      // A hidden tab closes its connection, because a browser has only six for each server.
      let close = document.hidden ? () => {} : open()
      const onVisibility = () => {
        close()
        close = document.hidden ? () => {} : open()
      }
      document.addEventListener('visibilitychange', onVisibility)
      return () => {
        document.removeEventListener('visibilitychange', onVisibility)
        close()
      }
    },
  }

  function open(): () => void {
    if (isComplete.peek()) return () => {}
    const openedAt = Date.now()
    const source = new EventSource(`/api/runs/${runId}/log/stream?offset=${offset}`)
    source.addEventListener('open', () => {
      isLost.value = false
    })
    source.addEventListener('log', ({ data }) => {
      const part = JSON.parse(data) as { text: string; offset: number }
      if (part.offset <= offset) return
      offset = part.offset
      reader.push(part.text, Date.now() - openedAt > HISTORY_MS)
      const all = (rest + part.text).split('\n')
      rest = all.pop()!
      for (const line of all) lines.push(line)
      tell()
    })
    source.addEventListener('end', () => {
      source.close()
      if (rest !== '') {
        reader.push('\n', false)
        lines.push(rest)
        rest = ''
      }
      isComplete.value = true
      tell()
    })
    source.addEventListener('error', () => {
      isLost.value = true
    })
    return () => source.close()
  }
}
