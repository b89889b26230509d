import chevron from 'lucide-static/icons/chevron-right.svg'
import type { Edit, RunEvent, ToolEvent } from '../../../../transcript/events.ts'
import { Diff, DiffLines } from '../../kit/diff.tsx'
import { duration, number } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { linesOfPatch } from '../../kit/patch.ts'
import { Took } from '../../kit/time.tsx'

export const isFoldable = ({ kind }: RunEvent) => kind === 'tool' || kind === 'thinking'

/** The maximum number of lines of an edit that is expanded by default. */
const OPEN_LINES = 30

/** Whether an event is expanded by default. Only short file changes are. */
export const isOpenAtFirst = (event: RunEvent) =>
  event.kind === 'tool' &&
  event.edits.length > 0 &&
  event.edits.reduce(
    (sum, { before, after, patch = '' }) => sum + linesIn(before) + linesIn(after) + linesIn(patch),
    0,
  ) <= OPEN_LINES

const linesIn = (text: string) => (text === '' ? 0 : text.split('\n').length)

/**
 * Matches Markdown markup. Plain text, which is most of the output, is not rendered as
 * Markdown while the reader scrolls.
 */
const HAS_MARKUP = /[`*_#<>[\]|~]|^\s*(?:-|\d+\.) |https?:/m

interface RowProps {
  event: RunEvent
  isOpen: boolean
  isLast: boolean
  isLive: boolean
  /** Whether the reader scrolls. Slow rendering is then deferred. */
  isPassing: boolean
  onToggle?: ((id: number) => void) | undefined
}

/** One event of a run. */
export function EventRow({ event, isOpen, isLive, isPassing, onToggle: toggle }: RowProps) {
  const onToggle = toggle && (() => toggle(event.id))
  switch (event.kind) {
    case 'text':
      return (
        <div class="event-focus" tabIndex={-1}>
          {HAS_MARKUP.test(event.text) ? (
            <Markdown text={event.text} isPassing={isPassing} />
          ) : (
            <div class="prose plain">{event.text}</div>
          )}
        </div>
      )
    case 'thinking':
      return (
        <>
          <button type="button" class="call event-focus" aria-expanded={isOpen} onClick={onToggle}>
            <Chevron isOpen={isOpen} />
            <span class="call-title clip">{isOpen ? 'Thinking' : event.text.split('\n')[0]}</span>
          </button>
          {isOpen && <p class="thought">{event.text}</p>}
        </>
      )
    case 'tool':
      return (
        <>
          <CallLine event={event} isOpen={isOpen} isLive={isLive} onToggle={onToggle} />
          {isOpen && <CallBody event={event} />}
        </>
      )
    case 'output':
      return (
        <pre class="event-focus plain" tabIndex={-1}>
          {event.text}
        </pre>
      )
    case 'end':
      return (
        <div class={`event-focus end ${event.isOk ? 'ok' : 'failed'}`} tabIndex={-1}>
          <b>{event.isOk ? 'The agent finished.' : 'The agent failed.'}</b>
          {event.text && <Markdown text={event.text} />}
        </div>
      )
    default:
      return (
        <p class="event-focus" tabIndex={-1}>
          {event.text}
        </p>
      )
  }
}

/** The header of a tool call: `Bash  npm test  4.2 s  exit 1`. */
function CallLine({
  event,
  isOpen,
  isLive,
  onToggle,
}: {
  event: ToolEvent
  isOpen: boolean
  isLive: boolean
  onToggle: (() => void) | undefined
}) {
  const added = event.edits.length > 0 ? countsOf(event.edits) : undefined
  return (
    <button type="button" class="call event-focus" aria-expanded={isOpen} onClick={onToggle}>
      <Chevron isOpen={isOpen} />
      <b>{event.name}</b>
      <span class="call-title clip mono">{event.title}</span>
      <span class="call-end">
        {added && (
          <>
            <span class="plus">+{number(added.after)}</span>
            {added.before > 0 && <span class="minus">−{number(added.before)}</span>}
          </>
        )}
        {event.tookMs !== undefined && <span class="num">{duration(event.tookMs)}</span>}
        {!event.isDone && isLive && (
          <span class="live-mark">
            {event.startedAt ? <Took from={new Date(event.startedAt).toISOString()} /> : 'running'}
          </span>
        )}
        {event.exitCode !== undefined ? (
          <span class={event.exitCode === 0 ? '' : 'error'}>exit {event.exitCode}</span>
        ) : (
          event.hasFailed && <span class="error">failed</span>
        )}
      </span>
    </button>
  )
}

/** Counts the removed and added lines, without the common lines at the beginning and the end. */
const countsOf = (edits: readonly Edit[]) =>
  edits.reduce(
    (sum, { before, after, patch }) => {
      if (patch)
        return {
          before: sum.before + (patch.match(/^-(?!--)/gm)?.length ?? 0),
          after: sum.after + (patch.match(/^\+(?!\+\+)/gm)?.length ?? 0),
        }
      const old = before === '' ? [] : before.split('\n')
      const fresh = after === '' ? [] : after.split('\n')
      while (old.length > 0 && fresh.length > 0 && old.at(-1) === fresh.at(-1)) {
        old.pop()
        fresh.pop()
      }
      const from = old.findIndex((line, index) => line !== fresh[index])
      const same = from === -1 ? Math.min(old.length, fresh.length) : from
      return { before: sum.before + old.length - same, after: sum.after + fresh.length - same }
    },
    { before: 0, after: 0 },
  )

/** The maximum displayed size of an output. The raw log contains all of it. */
const SHOWN_CHARS = 20_000

function CallBody({ event }: { event: ToolEvent }) {
  const { input, output, edits } = event
  const command = (input as { command?: unknown } | null)?.command
  return (
    <div class="call-body">
      {edits.map((edit, index) => (
        <figure key={index}>
          <figcaption class="mono">{edit.path}</figcaption>
          {edit.patch ? (
            <DiffLines lines={linesOfPatch(edit.patch)} />
          ) : (
            <Diff before={edit.before} after={edit.after} />
          )}
        </figure>
      ))}
      {edits.length === 0 && (
        <pre tabIndex={0}>{typeof command === 'string' ? `$ ${command}` : JSON.stringify(input, null, 2)}</pre>
      )}
      {output !== undefined && output !== '' && (edits.length === 0 || event.hasFailed) && (
        <pre tabIndex={0} class={event.hasFailed ? 'failed' : ''}>
          {output.slice(0, SHOWN_CHARS)}
          {output.length > SHOWN_CHARS && `\n… ${number(output.length - SHOWN_CHARS)} more characters in the raw log`}
        </pre>
      )}
      {event.isDone && !output && edits.length === 0 && <p class="note">No output.</p>}
    </div>
  )
}

const Chevron = ({ isOpen }: { isOpen: boolean }) => (
  <span class={`chevron${isOpen ? ' open' : ''}`}>
    <Icon svg={chevron} size={14} />
  </span>
)
