import { useSignal } from '@preact/signals'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import more from 'lucide-static/icons/ellipsis.svg'
import { useLocation, useRoute } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { Facts } from '../../kit/facts.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { Deliveries } from './deliveries.tsx'
import { NewSecret } from './new-secret.tsx'
import { nameOf, remove, rotate, sendTest, setActive, type Webhook, WebhookForm, WebhookState } from './webhook.tsx'

/** The page of a webhook: its settings and its deliveries. */
export function WebhookPage() {
  const { webhookId = '' } = useRoute().params
  const secret = useSignal<string | undefined>(undefined)
  const query = useQuery(
    `webhook/${webhookId}`,
    () => request('GET /api/webhooks/:webhookId', { params: { webhookId } }),
    ({ data }) => data.entityType === 'webhook',
  )
  const webhook = query.data.value
  return (
    <Page
      title={webhook ? nameOf(webhook) : 'Webhook'}
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the webhooks" href={pathTo('webhooks')} />}
      actions={
        webhook && (
          <Actions
            webhook={webhook}
            onSecret={(rotated) => {
              secret.value = rotated
            }}
          />
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={8} />}>
        {(found) => (
          <div class="webhook">
            {secret.value && <NewSecret secret={secret.value} />}
            <Facts
              rows={[
                ['State', <WebhookState key="state" webhook={found} />],
                ['URL', <code key="url">{found.url}</code>],
                ['Events', <code key="events">{found.events.join(', ')}</code>],
                ['Added', <Ago key="added" at={found.createdAt} />],
              ]}
            />
            <Deliveries webhookId={found.id} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string | undefined) => void }) {
  const { route } = useLocation()
  const isChanging = useSignal(false)
  const isActive = webhook.status === 'active'
  const change = () => {
    isChanging.value = true
  }
  return (
    <>
      <Menu
        label="More actions"
        items={[
          { label: 'Change…', run: change },
          ...(isActive ? [{ label: 'Disable', run: () => void setActive(webhook, false) }] : []),
          { label: 'Replace the secret…', run: () => void rotate(webhook).then(onSecret) },
          { label: 'Delete…', run: () => void remove(webhook).then((isGone) => isGone && route(pathTo('webhooks'))) },
        ]}
      >
        <Icon svg={more} />
      </Menu>
      {isActive ? (
        <Button kind="primary" onClick={() => void sendTest(webhook)}>
          Send a test event
        </Button>
      ) : (
        <Button kind="primary" onClick={() => void setActive(webhook, true)}>
          Enable
        </Button>
      )}
      {isChanging.value && (
        <WebhookForm
          webhook={webhook}
          onClose={() => {
            isChanging.value = false
          }}
        />
      )}
    </>
  )
}
