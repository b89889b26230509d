import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents } from '../../state/company.ts'
import type { InboxItem } from '../../state/inbox.ts'
import { toast } from '../../state/toasts.ts'

/** The reply form below a mention. It posts a comment on the issue. */
export function Reply({ item, onClose }: { item: InboxItem; onClose: (isSent: boolean) => void }) {
  const asker = agents.row(item.agentId ?? '').peek()
  const text = useSignal(asker ? `@${asker.name} ` : '')
  const isBusy = useSignal(false)
  const send = async () => {
    const body = text.peek().trim()
    if (body === '' || isBusy.peek()) return
    isBusy.value = true
    const sent = await act(() =>
      request('POST /api/issues/:issueId/comments', { params: { issueId: item.issueId! }, body: { body } }),
    )
    isBusy.value = false
    if (!sent) return
    toast(`Commented on ${item.issueIdentifier}.`)
    onClose(true)
  }
  return (
    <div class="reply">
      <Markdown text={item.body ?? ''} />
      <textarea
        aria-label={`Reply on ${item.issueIdentifier}`}
        rows={3}
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send()
          else if (event.key === 'Escape') onClose(false)
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <div class="form-end">
        <Button onClick={() => onClose(false)}>Cancel</Button>
        <Button kind="primary" hint="Ctrl ↵" isDisabled={isBusy.value} onClick={() => void send()}>
          Reply
        </Button>
      </div>
    </div>
  )
}
