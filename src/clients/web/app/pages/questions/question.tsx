import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { plural } from '../../kit/format.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, request, type Sent } from '../../state/api.ts'
import { agents, may, nameOf } from '../../state/company.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

export type Interaction = Received<'GET /api/issues/:issueId/interactions'>[number]
type Answer = NonNullable<Sent<'POST /api/issues/:issueId/interactions/:interactionId/answer'>['body']>

/** A question of an agent, with the form for the answer. */
export function Question({ interaction, onAnswered }: { interaction: Interaction; onAnswered?: () => void }) {
  const { id: interactionId, issueId, title, question, createdByAgentId, createdByUserId, createdAt } = interaction
  const agent = agents.get(createdByAgentId)
  const asker = nameOf({ agentId: createdByAgentId, userId: createdByUserId })
  const response = async (body: Answer) => {
    const sent = await act(() =>
      request('POST /api/issues/:issueId/interactions/:interactionId/answer', {
        params: { issueId, interactionId },
        body,
      }),
    )
    if (!sent) return
    invalidate(`questions/${issueId}`)
    invalidate(`thread/${issueId}`)
    toast(`${asker} has your answer.`)
    onAnswered?.()
  }
  return (
    <article class="question" aria-label={title}>
      <header>
        <Avatar name={asker} {...(agent ? { status: agent.status } : { isPerson: true })} />
        <b>{title}</b>
        <span class="when">
          {asker} asks, <Ago at={createdAt} />
        </span>
      </header>
      {question && <Markdown text={question} />}
      {may('member') ? (
        <Form interaction={interaction} onAnswer={response} />
      ) : (
        <p class="note">A member can answer this.</p>
      )}
    </article>
  )
}

interface FormProps {
  interaction: Interaction
  onAnswer: (response: Answer) => Promise<void>
}

function Form(props: FormProps) {
  switch (props.interaction.kind) {
    case 'question':
      return <TextForm {...props} />
    case 'confirm':
      return <ConfirmForm {...props} />
    case 'choose':
      return <ChooseForm {...props} />
    case 'suggest_tasks':
      return <TasksForm {...props} />
  }
}

function TextForm({ interaction, onAnswer }: FormProps) {
  const text = useSignal('')
  const send = () => text.peek().trim() !== '' && void onAnswer({ text: text.peek().trim() })
  return (
    <>
      <textarea
        aria-label={`Answer: ${interaction.title}`}
        rows={3}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && send()}
      />
      <footer>
        <Button kind="primary" hint="Ctrl ↵" isDisabled={text.value.trim() === ''} onClick={send}>
          Answer
        </Button>
      </footer>
    </>
  )
}

function ConfirmForm({ onAnswer }: FormProps) {
  const { field, note } = useNote()
  return (
    <>
      {field}
      <footer>
        <Button kind="primary" onClick={() => void onAnswer({ confirmed: true, note: note() })}>
          Yes
        </Button>
        <Button onClick={() => void onAnswer({ confirmed: false, note: note() })}>No</Button>
      </footer>
    </>
  )
}

function ChooseForm({ interaction: { id, options, multiple, recommended }, onAnswer }: FormProps) {
  const selected = useSignal<readonly string[]>(recommended && !multiple ? [recommended] : [])
  const { field, note } = useNote()
  const toggle = (option: string) => {
    const others = multiple ? selected.peek().filter((one) => one !== option) : []
    selected.value = selected.peek().includes(option) ? others : [...others, option]
  }
  return (
    <>
      <div class="choices">
        {options.map((option) => (
          <ChoiceRow
            key={option.id}
            type={multiple ? 'checkbox' : 'radio'}
            name={id}
            isOn={selected.value.includes(option.id)}
            title={option.label}
            note={option.id === recommended ? 'recommended' : undefined}
            text={option.description}
            onPick={() => toggle(option.id)}
          />
        ))}
      </div>
      {field}
      <footer>
        <Button
          kind="primary"
          isDisabled={selected.value.length === 0}
          onClick={() => void onAnswer({ selected: [...selected.peek()], note: note() })}
        >
          Answer
        </Button>
      </footer>
    </>
  )
}

function TasksForm({ interaction: { id, tasks }, onAnswer }: FormProps) {
  const selected = useSignal<readonly string[]>(tasks.map((task) => task.id))
  const { field, note } = useNote()
  const toggle = (task: string) => {
    selected.value = selected.peek().includes(task)
      ? selected.peek().filter((one) => one !== task)
      : [...selected.peek(), task]
  }
  const count = selected.value.length
  return (
    <>
      <div class="choices">
        {tasks.map((task) => (
          <ChoiceRow
            key={task.id}
            type="checkbox"
            name={id}
            isOn={selected.value.includes(task.id)}
            title={task.title}
            note={task.assigneeAgentId ? `for ${nameOf({ agentId: task.assigneeAgentId })}` : undefined}
            text={task.description}
            onPick={() => toggle(task.id)}
          />
        ))}
      </div>
      {field}
      <footer>
        <Button
          kind={count === 0 ? 'plain' : 'primary'}
          onClick={() => void onAnswer({ selected: [...selected.peek()], note: note() })}
        >
          {count === 0 ? 'Accept none' : `Create ${plural(count, 'sub-issue')}`}
        </Button>
      </footer>
    </>
  )
}

/** A field for a note to an answer. */
function useNote(): { field: ComponentChildren; note: () => string | null } {
  const text = useSignal('')
  const field = (
    <input
      type="text"
      aria-label="Note"
      placeholder="Note (optional)"
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
    />
  )
  return { field, note: () => text.peek().trim() || null }
}

interface ChoiceProps {
  type: 'radio' | 'checkbox'
  name: string
  isOn: boolean
  title: string
  note: string | undefined
  text: string | null
  onPick: () => void
}

function ChoiceRow({ type, name, isOn, title, note, text, onPick }: ChoiceProps) {
  return (
    <label class={`choice${isOn ? ' on' : ''}`}>
      <input type={type as 'radio'} name={name} checked={isOn} onChange={onPick} />
      <span>
        <b>{title}</b>
        {note && <span class="choice-note">{note}</span>}
        {text && <span class="note">{text}</span>}
      </span>
    </label>
  )
}
