import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { companyIdNow, may, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { SettingsPlace } from '../settings/place.tsx'
import { NewSecret } from './new-secret.tsx'
import { nameOf, WebhookForm, WebhookState } from './webhook.tsx'

/** The webhooks of the company: where its events are sent to. */
export function WebhooksPage() {
  const isAdding = useSignal(false)
  const secret = useSignal<string | undefined>(undefined)
  const isAdmin = may('admin')
  const query = useQuery(
    isAdmin ? 'webhooks' : undefined,
    () => request('GET /api/companies/:companyId/webhooks', { params: { companyId: companyIdNow() } }),
    ({ data }) => data.entityType === 'webhook',
  )
  const add = () => {
    isAdding.value = true
  }
  useCommands(isAdmin ? [{ id: 'webhook.new', title: 'New webhook', keys: 'n', group: 'Webhooks', run: add }] : [])
  if (!isAdmin) {
    return (
      <SettingsPlace here="webhooks">
        <p class="note">An admin can see and change the webhooks of this company.</p>
      </SettingsPlace>
    )
  }
  return (
    <SettingsPlace
      here="webhooks"
      actions={
        (query.data.value?.length ?? 0) > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={add}>
            New webhook
          </Button>
        )
      }
    >
      {secret.value && <NewSecret secret={secret.value} />}
      <Loaded query={query} skeleton={<Skeleton rows={3} height={48} />}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty
              title="No webhooks yet."
              action={
                <Button kind="primary" hint="n" onClick={add}>
                  Add the first webhook
                </Button>
              }
            >
              A webhook sends the events of this company to a URL, such as a chat or a CI server.
            </Empty>
          ) : (
            <ul class="lines places-list">
              {webhooks.map((webhook) => (
                <li key={webhook.id}>
                  <a class="place-main place-link" href={pathTo(`webhooks/${webhook.id}`)}>
                    <b class="clip">{nameOf(webhook)}</b>
                    <span class="note clip">{webhook.events.join(', ')}</span>
                  </a>
                  <span class="line-end">
                    <WebhookState webhook={webhook} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding.value && (
        <WebhookForm
          onClose={() => {
            isAdding.value = false
          }}
          onCreated={(created) => {
            secret.value = created.secret
          }}
        />
      )}
    </SettingsPlace>
  )
}
