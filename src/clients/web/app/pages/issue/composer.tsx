import { useComputed, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Checkbox } from '../../kit/field.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, issues } from '../../state/company.ts'
import type { Agent, Issue } from '../../state/types.ts'

/** What was typed and not sent, by issue: it survives a look at another page. */
const drafts = new Map<string, string>()

/** The field for a comment. It completes `@` names, and says whom the comment will wake. */
export function Composer({ issue, onSent }: { issue: Issue; onSent: () => void }) {
  const text = useSignal(drafts.get(issue.id) ?? '')
  const isBusy = useSignal(false)
  const reopen = useSignal(false)
  const mention = useSignal<{ from: number; query: string } | undefined>(undefined)
  const active = useSignal(0)
  const field = useRef<HTMLTextAreaElement>(null)
  const isClosed = issue.status === 'done' || issue.status === 'cancelled'
  const matching = useComputed(() => {
    if (!mention.value) return []
    const query = mention.value.query.toLowerCase()
    return agents.all.value
      .filter(({ name, status }) => status !== 'terminated' && name.toLowerCase().startsWith(query))
      .slice(0, 6)
  })
  const wakes = wakesOf(text.value, issue)
  const write = (value: string) => {
    text.value = value
    drafts.set(issue.id, value)
    const end = field.current?.selectionStart ?? value.length
    const found = /(?:^|[\s(])@([\p{L}\p{N} ._-]{0,30})$/u.exec(value.slice(0, end))
    mention.value = found ? { from: end - found[1]!.length, query: found[1]! } : undefined
    active.value = 0
  }
  const complete = (agent: Agent) => {
    const { from, query } = mention.peek()!
    const value = `${text.peek().slice(0, from)}${agent.name} ${text.peek().slice(from + query.length)}`
    text.value = value
    drafts.set(issue.id, value)
    mention.value = undefined
    const place = from + agent.name.length + 1
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(place, place)
    })
  }
  const send = async () => {
    const body = text.peek().trim()
    if (body === '' || isBusy.peek()) return
    isBusy.value = true
    const sent = await act(() =>
      request('POST /api/issues/:issueId/comments', {
        params: { issueId: issue.id },
        body: { body, ...(reopen.peek() && isClosed && { reopen: true }) },
      }),
    )
    isBusy.value = false
    if (!sent) return
    text.value = ''
    drafts.delete(issue.id)
    if (reopen.peek() && isClosed) issues.patch(issue.id, { status: 'todo' })
    onSent()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (mention.value && matching.value.length > 0) {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      if (by !== 0) active.value = (active.value + by + matching.value.length) % matching.value.length
      else if (event.key === 'Enter' || event.key === 'Tab') complete(matching.value[active.value]!)
      else if (event.key === 'Escape') mention.value = undefined
      else return
      event.preventDefault()
      event.stopPropagation()
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void send()
    }
  }
  return (
    <div class="composer">
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="Write a comment. @Name wakes an agent."
        rows={Math.min(12, Math.max(3, text.value.split('\n').length + 1))}
        value={text.value}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={() =>
          setTimeout(() => {
            mention.value = undefined
          }, 150)
        }
      />
      {mention.value && matching.value.length > 0 && (
        <div class="mentions" role="listbox" aria-label="Agents">
          {matching.value.map((agent, index) => (
            <div
              key={agent.id}
              role="option"
              tabIndex={-1}
              aria-selected={index === active.value}
              class={`option${index === active.value ? ' active' : ''}`}
              onMouseDown={(event) => {
                event.preventDefault()
                complete(agent)
              }}
            >
              <Avatar name={agent.name} status={agent.status} />
              <span>{agent.name}</span>
              <span class="note">{agent.title ?? agent.role}</span>
            </div>
          ))}
        </div>
      )}
      <div class="composer-end">
        <p class="note" aria-live="polite">
          {wakes}
        </p>
        {isClosed && (
          <Checkbox
            label="Reopen"
            isChecked={reopen.value}
            onChange={(isChecked) => {
              reopen.value = isChecked
            }}
          />
        )}
        <Button
          kind="primary"
          hint="Ctrl ↵"
          isDisabled={text.value.trim() === '' || isBusy.value}
          onClick={() => void send()}
        >
          Comment
        </Button>
      </div>
    </div>
  )
}

/** Whom a comment wakes, as a sentence. */
function wakesOf(text: string, issue: Issue): string {
  const prose = text.replaceAll(/```[\s\S]*?(```|$)|`[^`\n]*`/g, ' ').toLowerCase()
  const woken: string[] = []
  const assignee = agents.get(issue.assigneeAgentId)
  const cannot = (agent: Agent) => agent.status === 'terminated' || agent.status === 'pending_approval'
  if (assignee && text.trim() !== '' && !cannot(assignee)) woken.push(`${assignee.name} (assignee)`)
  for (const agent of agents.all.value) {
    if (agent.id === assignee?.id || cannot(agent)) continue
    const place = prose.indexOf(`@${agent.name.toLowerCase()}`)
    const after = prose[place + agent.name.length + 1] ?? ' '
    if (place >= 0 && !/[\p{L}\p{N}]/u.test(after)) woken.push(`${agent.name} (@${agent.name})`)
  }
  if (text.trim() === '')
    return assignee ? `A comment wakes ${assignee.name}.` : 'Nobody is assigned: mention an agent to wake it.'
  return woken.length === 0 ? 'Wakes nobody.' : `Wakes ${new Intl.ListFormat('en').format(woken)}.`
}
