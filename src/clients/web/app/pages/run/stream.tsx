import { useSignal } from '@preact/signals'
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import type { RunEvent } from '../../../../transcript/events.ts'
import { Button } from '../../kit/button.tsx'
import { useVirtual } from '../../kit/list.tsx'
import { useCommands } from '../../state/commands.ts'
import { EventRow, isFoldable, isOpenAtFirst } from './event-row.tsx'
import { useFollow } from './follow.ts'
import type { RunLog } from './log.ts'

/** The estimated height of a row before it is measured, in pixels. */
const estimate = (event: RunEvent) => {
  if (event.kind === 'tool') return isOpenAtFirst(event) ? 180 : 28
  if (event.kind === 'text' || event.kind === 'output') return 16 + 20 * Math.ceil(event.text.length / 90)
  return 28
}

const byIndex = (index: number) => index

/** The output as rows. It follows a live run until the reader scrolls up. */
export function Stream({ log, isLive }: { log: RunLog; isLive: boolean }) {
  log.version.value
  const { events } = log.reader
  const box = useRef<HTMLDivElement>(null)
  const toggled = useSignal<ReadonlySet<number>>(new Set())
  const current = useSignal(-1)
  const wanted = useRef(-1)
  const virtualizer = useVirtual({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimate(events[index]!),
    getItemKey: byIndex,
    overscan: 4,
    paddingEnd: 16,
  })
  const { isFollowing, onScroll, follow } = useFollow(box, isLive)
  const isOpen = (event: RunEvent) => isOpenAtFirst(event) !== toggled.value.has(event.id)
  const toggle = useCallback((id: number) => {
    const next = new Set(toggled.peek())
    if (!next.delete(id)) next.add(id)
    toggled.value = next
  }, [])
  const focus = (index: number) => {
    if (index < 0 || index >= events.length) return
    current.value = index
    wanted.current = index
    isFollowing.value = isLive && index === events.length - 1
    virtualizer.scrollToIndex(index, { align: 'auto' })
  }
  useLayoutEffect(() => {
    if (wanted.current < 0) return
    const row = box.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] .event-focus`)
    if (!row) return
    wanted.current = -1
    row.focus({ preventScroll: true })
  })
  useCommands([
    {
      id: 'run.down',
      title: 'Next event',
      keys: 'j',
      group: 'Run',
      isKeyOnly: true,
      run: () => focus(current.peek() + 1),
    },
    {
      id: 'run.up',
      title: 'Previous event',
      keys: 'k',
      group: 'Run',
      isKeyOnly: true,
      run: () => focus(current.peek() < 0 ? events.length - 1 : current.peek() - 1),
    },
    {
      id: 'run.error',
      title: 'Next error',
      keys: 'e',
      group: 'Run',
      run: () => {
        const from = current.peek() + 1
        const isError = (event: RunEvent) => event.kind === 'error' || (event.kind === 'tool' && event.hasFailed)
        const found = events.findIndex((event, index) => index >= from && isError(event))
        focus(found === -1 ? events.findIndex(isError) : found)
      },
    },
    {
      id: 'run.first',
      title: 'Go to the first event',
      keys: 'Home',
      group: 'Run',
      isKeyOnly: true,
      run: () => focus(0),
    },
    { id: 'run.end', title: 'Go to the end and follow', keys: 'End', group: 'Run', run: follow },
  ])
  return (
    <div class="run-stream">
      <div ref={box} class="run-scroll" onScroll={onScroll} id="run-events">
        <div role="list" aria-label="Events" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const event = events[index]!
            return (
              <div
                key={key}
                role="listitem"
                data-index={index}
                ref={virtualizer.measureElement}
                class={`run-row ${event.kind}${event.isNested ? ' nested' : ''}`}
                style={{ top: `${start}px` }}
                onFocusIn={() => {
                  current.value = index
                }}
              >
                <EventRow
                  event={event}
                  isOpen={isOpen(event)}
                  isLast={isLive && index === events.length - 1}
                  isLive={isLive}
                  isPassing={virtualizer.isScrolling}
                  onToggle={isFoldable(event) ? toggle : undefined}
                />
              </div>
            )
          })}
        </div>
      </div>
      {isLive && !isFollowing.value && (
        <div class="run-follow">
          <Button onClick={follow} hint="End">
            Follow the end
          </Button>
        </div>
      )}
    </div>
  )
}
