import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { duration } from '../../kit/format.ts'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Table } from '../../kit/table.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, requestPage } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'

type Delivery = Received<'GET /api/webhooks/:webhookId/deliveries'>[number]
type Status = Delivery['status']

const STATUSES = { all: 'All', pending: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as const

const PAGE = 50

/** The period in which a page with waiting deliveries loads them again, in milliseconds. No event reports an attempt. */
const RELOAD_MS = 2_000

const load = (webhookId: string, status: keyof typeof STATUSES, after?: string) =>
  requestPage('GET /api/webhooks/:webhookId/deliveries', {
    params: { webhookId },
    query: { limit: PAGE, after, status: status === 'all' ? undefined : (status as Status) },
  })

/** The deliveries of a webhook, the latest first, with their attempts. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const status = useSignal<keyof typeof STATUSES>('all')
  const query = useQuery(`webhook/${webhookId}/deliveries/${status.value}`, () => load(webhookId, status.value))
  const isWaiting = query.data.value?.items.some((one) => one.status === 'pending') ?? false
  useEffect(() => {
    if (!isWaiting) return undefined
    const timer = setInterval(() => document.hidden || void query.reload(), RELOAD_MS)
    return () => clearInterval(timer)
  }, [isWaiting, query])
  return (
    <section aria-label="Deliveries">
      <header class="section-head">
        <h2>Deliveries</h2>
        <span class="switch">
          {(Object.keys(STATUSES) as (keyof typeof STATUSES)[]).map((name) => (
            <Button
              key={name}
              kind="quiet"
              isPressed={status.value === name}
              onClick={() => {
                status.value = name
              }}
            >
              {STATUSES[name]}
            </Button>
          ))}
        </span>
      </header>
      <Loaded query={query} skeleton={<Skeleton rows={6} />}>
        {({ items, next }) => (
          <Rows
            key={status.value}
            items={items}
            next={next}
            empty={status.value === 'all' ? 'Nothing has been sent yet.' : 'No delivery is in this state.'}
            more={(after) => load(webhookId, status.peek(), after)}
          />
        )}
      </Loaded>
    </section>
  )
}

function Rows({
  items,
  next,
  empty,
  more,
}: {
  items: readonly Delivery[]
  next: string | undefined
  empty: string
  more: (after: string) => ReturnType<typeof load>
}) {
  const older = useSignal<readonly Delivery[]>([])
  const cursor = useSignal<string | undefined | null>(null)
  const after = cursor.value === null ? next : cursor.value
  if (items.length === 0) return <p class="note">{empty}</p>
  const loadMore = async (from: string) => {
    const page = await act(() => more(from))
    if (!page) return
    older.value = [...older.peek(), ...page.items]
    cursor.value = page.next
  }
  const rows = [...new Map([...older.value, ...items].map((one) => [one.id, one])).values()].sort((a, b) =>
    a.id < b.id ? 1 : -1,
  )
  return (
    <>
      <Table
        label="Deliveries"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Event', cell: ({ event }) => <code>{event}</code> },
          { title: 'State', cell: (one) => <DeliveryState delivery={one} /> },
          { title: 'Response', cell: ({ responseStatus }) => responseStatus ?? '', isNumber: true, isExtra: true },
          {
            title: 'Took',
            cell: ({ durationMs }) => (durationMs === null ? '' : duration(durationMs)),
            isNumber: true,
            isExtra: true,
          },
          { title: 'Queued', cell: ({ createdAt }) => <Ago at={createdAt} />, isNumber: true, isExtra: true },
        ]}
      />
      {after !== undefined && <Button onClick={() => void loadMore(after)}>Show older deliveries</Button>}
    </>
  )
}

/** Whether a delivery arrived; otherwise its attempts, the next one, and why the last one failed. */
function DeliveryState({ delivery }: { delivery: Delivery }) {
  const { status, attempts, nextAttemptAt, error } = delivery
  if (status === 'delivered') {
    return (
      <span class="ok">
        Delivered
        {attempts > 1 && <span class="note"> at attempt {attempts}</span>}
      </span>
    )
  }
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return (
    <span class="delivery-state">
      <span class={status === 'failed' ? 'error' : 'warn'}>
        {status === 'failed' ? `Failed after ${tries}` : attempts === 0 ? 'Waiting' : `${tries} failed`}
        {status === 'pending' && nextAttemptAt && attempts > 0 && (
          <>
            , next <Ago at={nextAttemptAt} />
          </>
        )}
      </span>
      {error && (
        <span class="note clip" title={error}>
          {error}
        </span>
      )}
    </span>
  )
}
