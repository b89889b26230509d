import { type Signal, useComputed, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { findMentioned } from '../../../../../work/comment/mentions.ts'
import { Avatar } from '../../kit/avatar.tsx'
import { words } from '../../kit/format.ts'
import { agents, members, session } from '../../state/company.ts'
import type { Agent, Issue } from '../../state/types.ts'

/** An agent or a person that can be mentioned. A mention wakes an agent and appears in the inbox of a person. */
interface Mentionable {
  id: string
  name: string
  note: string
  agent?: Agent
}

/** The name that mentions every person of the company. */
const BOARD: Mentionable = { id: 'board', name: 'board', note: 'every person of the company' }

const mentionable = (): Mentionable[] => [
  ...agents.all.value
    .filter(({ status }) => status !== 'terminated')
    .map((agent) => ({ id: agent.id, name: agent.name, note: agent.title ?? words(agent.role), agent })),
  ...members.all.value
    .filter(({ userId }) => userId !== session.value?.userId)
    .map(({ userId, name, role }) => ({ id: userId, name, note: words(role) })),
  BOARD,
]

/** The maximum number of suggested names. */
const OFFERED = 7

/** Completes `@` names in a field. `onKeyDown` returns whether it handled the key. */
export function useMentions(
  field: RefObject<HTMLTextAreaElement | null>,
  text: Signal<string>,
  write: (text: string) => void,
) {
  const typed = useSignal<{ from: number; query: string } | undefined>(undefined)
  const active = useSignal(0)
  const found = useComputed(() => {
    if (!typed.value) return []
    const query = typed.value.query.toLowerCase()
    return mentionable()
      .filter(({ name }) => name.toLowerCase().startsWith(query))
      .slice(0, OFFERED)
  })
  const close = () => {
    typed.value = undefined
  }
  /** Looks for an `@` before the cursor. */
  const look = () => {
    const end = field.current?.selectionStart ?? 0
    const match = /(?:^|[\s(])@([\p{L}\p{N} ._-]{0,30})$/u.exec(text.peek().slice(0, end))
    typed.value = match ? { from: end - match[1]!.length, query: match[1]! } : undefined
    active.value = 0
  }
  const complete = ({ name }: Mentionable) => {
    const { from, query } = typed.peek()!
    write(`${text.peek().slice(0, from)}${name} ${text.peek().slice(from + query.length)}`)
    close()
    const place = from + name.length + 1
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(place, place)
    })
  }
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const { length } = found.value
    if (length === 0) return false
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) active.value = (active.value + by + length) % length
    else if (event.key === 'Enter' || event.key === 'Tab') complete(found.value[active.value]!)
    else if (event.key === 'Escape') close()
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const list = found.value.length > 0 && (
    <div class="mentions" role="listbox" aria-label="Mention">
      {found.value.map((one, index) => (
        <div
          key={one.id}
          role="option"
          tabIndex={-1}
          aria-selected={index === active.value}
          class={`option${index === active.value ? ' active' : ''}`}
          onMouseDown={(event) => {
            event.preventDefault()
            complete(one)
          }}
        >
          <Avatar name={one.name} {...(one.agent ? { status: one.agent.status } : { isPerson: true })} />
          <span class="clip">{one.name}</span>
          <span class="note">{one.note}</span>
        </div>
      ))}
    </div>
  )
  return { look, close, onKeyDown, list }
}

const canWake = ({ status }: Agent) => status !== 'terminated' && status !== 'pending_approval'
const list = new Intl.ListFormat('en')

/** Describes the effect of a comment: the agents that it wakes and the people who see it in the inbox. */
export function effectOf(text: string, issue: Issue): string {
  const assignee = agents.get(issue.assigneeAgentId)
  if (text.trim() === '')
    return assignee ? `A comment wakes ${assignee.name}.` : 'No assignee. Mention an agent to wake it.'
  const mentioned = findMentioned(text, mentionable())
  const woken = [
    ...(assignee && canWake(assignee) ? [`${assignee.name} (assignee)`] : []),
    ...mentioned.flatMap(({ agent }) =>
      agent && agent.id !== assignee?.id && canWake(agent) ? [`${agent.name} (@${agent.name})`] : [],
    ),
  ]
  const people = mentioned.flatMap(({ agent, id, name }) => (agent ? [] : [id === BOARD.id ? 'every person' : name]))
  return [
    woken.length === 0 ? 'Wakes nobody.' : `Wakes ${list.format(woken)}.`,
    people.length > 0 && `In the inbox of ${list.format(people)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
