import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Checkbox } from '../../kit/field.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { issues } from '../../state/company.ts'
import type { Issue } from '../../state/types.ts'
import { type Attachment, attach, filesOf, toMarkdown } from './attach.ts'
import { AttachButton } from './attachments.tsx'
import { effectOf, useMentions } from './mentions.tsx'

/** The drafts of comments, by issue. They are kept when the person opens another page. */
const drafts = new Map<string, string>()

/** The comment field. It completes `@` names, accepts files and states which agents the comment will wake. */
export function Composer({ issue, onSent }: { issue: Issue; onSent: () => void }) {
  const text = useSignal(drafts.get(issue.id) ?? '')
  const isBusy = useSignal(false)
  const reopen = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const isClosed = issue.status === 'done' || issue.status === 'cancelled'
  const write = (value: string) => {
    text.value = value
    drafts.set(issue.id, value)
  }
  const mentions = useMentions(field, text, write)
  const insert = (attached: readonly Attachment[]) => {
    if (attached.length === 0) return
    const end = field.current?.selectionStart ?? text.peek().length
    const before = text.peek().slice(0, end)
    const gap = before === '' || before.endsWith('\n') ? '' : '\n'
    write(`${before}${gap}${attached.map(toMarkdown).join('\n')}\n${text.peek().slice(end)}`)
    field.current?.focus()
  }
  const take = async (event: Event, files: readonly File[]) => {
    if (files.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    isBusy.value = true
    insert(await attach(issue.id, files))
    isBusy.value = false
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
  return (
    <div class="composer">
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="Write a comment. @Name wakes an agent."
        rows={Math.min(12, Math.max(3, text.value.split('\n').length + 1))}
        value={text.value}
        onInput={(event) => {
          write(event.currentTarget.value)
          mentions.look()
        }}
        onKeyDown={(event) => {
          if (mentions.onKeyDown(event)) return
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void send()
        }}
        onPaste={(event) => void take(event, filesOf(event.clipboardData))}
        onDrop={(event) => void take(event, filesOf(event.dataTransfer))}
        onBlur={mentions.close}
      />
      {mentions.list}
      <div class="composer-end">
        <AttachButton issue={issue} onDone={insert} />
        <p class="note" aria-live="polite">
          {isBusy.value ? 'Sending…' : effectOf(text.value, issue)}
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
