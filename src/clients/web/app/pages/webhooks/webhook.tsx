import { useSignal } from '@preact/signals'
import { confirm } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Took } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { companyIdNow } from '../../state/company.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

export type Webhook = Received<'GET /api/webhooks/:webhookId'>

/** The name of a webhook: its description, or its host. */
export const nameOf = ({ description, url }: Webhook) => description ?? URL.parse(url)?.host ?? url

const DISABLED = {
  board: 'Disabled by a person',
  failing: 'Disabled: no delivery succeeded for three days',
  gone: 'Disabled: the URL responded with 410',
} as const

/** Whether a webhook sends, and why it does not. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  if (webhook.status === 'disabled') {
    const isFault = webhook.disabledWhy !== null && webhook.disabledWhy !== 'board'
    return <span class={isFault ? 'error' : 'note'}>{DISABLED[webhook.disabledWhy ?? 'board']}</span>
  }
  if (webhook.failingSince !== null) {
    return (
      <span class="warn">
        Failing for <Took from={webhook.failingSince} />
      </span>
    )
  }
  return <span class="ok">Active</span>
}

const params = (webhook: Webhook) => ({ webhookId: webhook.id })

const changed = () => invalidate('webhook')

export async function setActive(webhook: Webhook, isActive: boolean): Promise<void> {
  const body = { status: isActive ? ('active' as const) : ('disabled' as const) }
  const saved = await act(() => request('PATCH /api/webhooks/:webhookId', { params: params(webhook), body }))
  if (saved) {
    toast(isActive ? 'It sends the events from now on.' : 'It sends no further events.', {
      undo: () => void setActive(webhook, !isActive),
    })
  }
  changed()
}

/** Queues the delivery of a test event. The page of the webhook displays it. */
export async function sendTest(webhook: Webhook): Promise<void> {
  if (await act(() => request('POST /api/webhooks/:webhookId/test', { params: params(webhook) }))) {
    toast('A test event is on its way.')
  }
  changed()
}

/** Replaces the secret. @returns the new one, if the person confirmed */
export async function rotate(webhook: Webhook): Promise<string | undefined> {
  const isSure = await confirm({
    title: `Replace the secret of ${nameOf(webhook)}?`,
    text: 'The next request is signed with the new secret. A receiver that knows only the old one refuses it.',
    action: 'Replace the secret',
  })
  if (!isSure) return undefined
  return (await act(() => request('POST /api/webhooks/:webhookId/rotate-secret', { params: params(webhook) })))?.secret
}

/** @returns whether the webhook was deleted */
export async function remove(webhook: Webhook): Promise<boolean> {
  const isSure = await confirm({
    title: `Delete ${nameOf(webhook)}?`,
    text: 'This deletes its deliveries too. Events that wait are not sent.',
    action: 'Delete the webhook',
  })
  if (!isSure) return false
  const gone = await act(() => request('DELETE /api/webhooks/:webhookId', { params: params(webhook) }))
  changed()
  return gone !== undefined
}

/** The dialog that adds or changes a webhook. */
export function WebhookForm({
  webhook,
  onClose,
  onCreated,
}: {
  webhook?: Webhook | undefined
  onClose: () => void
  onCreated?: (created: Webhook & { secret: string }) => void
}) {
  const url = useSignal(webhook?.url ?? '')
  const events = useSignal(webhook?.events.join(', ') ?? '*')
  const description = useSignal(webhook?.description ?? '')
  const submit = async () => {
    const body = {
      url: url.peek().trim(),
      events: events
        .peek()
        .split(/[\s,]+/)
        .filter(Boolean),
      description: description.peek().trim() || null,
    }
    if (webhook) await request('PATCH /api/webhooks/:webhookId', { params: params(webhook), body })
    else {
      onCreated?.(
        await request('POST /api/companies/:companyId/webhooks', { params: { companyId: companyIdNow() }, body }),
      )
    }
    changed()
  }
  return (
    <FormDialog
      title={webhook ? `Change ${nameOf(webhook)}` : 'New webhook'}
      action={webhook ? 'Save' : 'Add webhook'}
      width={520}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label="URL"
        type="url"
        placeholder="https://build.example.com/hooks/service"
        isRequired
        autoFocus
        isMono
        value={url.value}
        onInput={(text) => {
          url.value = text
        }}
      />
      <TextField
        label="Events"
        hint="By name (issue.created), by noun (issue.*), or all (*). Separate them by commas."
        isMono
        isRequired
        value={events.value}
        onInput={(text) => {
          events.value = text
        }}
      />
      <TextField
        label="Description"
        placeholder="CI server"
        value={description.value}
        onInput={(text) => {
          description.value = text
        }}
      />
    </FormDialog>
  )
}
