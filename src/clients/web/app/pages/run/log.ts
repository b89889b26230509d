import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { createEventReader, type EventReader } from '../../../../transcript/events.ts'

/** A run's output, as far as it was read. */
export interface RunLog {
  reader: EventReader
  /** The output as it was written. */
  lines: readonly string[]
  /** Changes at most once a frame when there is more. */
  version: ReadonlySignal<number>
  /** Whether the whole output was read. */
  isComplete: ReadonlySignal<boolean>
  /** Whether the connection is lost; the browser connects again by itself. */
  isLost: ReadonlySignal<boolean>
}

/** What arrives within this time after the beginning was written before, in milliseconds: it says nothing about durations. */
const HISTORY_MS = 1_500

/** Follows the output of a run from its beginning to its end. */
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
      // A tab that nobody sees gives its connection back: a browser has six for a server.
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
