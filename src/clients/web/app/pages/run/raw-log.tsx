import { AnsiUp } from 'ansi_up'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { number } from '../../kit/format.ts'
import { useVirtual } from '../../kit/list.tsx'
import { useFollow } from './follow.ts'
import type { RunLog } from './log.ts'

const LINE_HEIGHT = 18

const byIndex = (index: number) => index

/** The maximum number of displayed characters of a line. */
const SHOWN_CHARS = 4_000

/** The raw output, with terminal colors. */
export function RawLog({ log, isLive }: { log: RunLog; isLive: boolean }) {
  log.version.value
  const { lines } = log
  const box = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtual({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    getItemKey: byIndex,
    overscan: 30,
    paddingEnd: 16,
  })
  const { onScroll } = useFollow(box, isLive)
  return (
    <div ref={box} class="raw-log" tabIndex={0} role="region" aria-label="Raw log" onScroll={onScroll}>
      <div style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <div key={key} class="raw-line" style={{ top: `${start}px` }}>
            <span class="raw-number" aria-hidden="true">
              {number(index + 1)}
            </span>
            <Line text={lines[index]!} />
          </div>
        ))}
      </div>
    </div>
  )
}

function Line({ text }: { text: string }) {
  const html = useMemo(() => {
    const ansi = new AnsiUp()
    ansi.use_classes = true
    return ansi.ansi_to_html(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)
  }, [text])
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const element = ref.current!
    // The page's CSP forbids style attributes in HTML, but scripts may set the same properties.
    element.innerHTML = html.replaceAll(' style="', ' data-style="')
    for (const part of element.querySelectorAll<HTMLElement>('[data-style]')) part.style.cssText = part.dataset.style!
  }, [html])
  return <code ref={ref} />
}
