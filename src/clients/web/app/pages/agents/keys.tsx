import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Empty, Loaded } from '../../kit/states.tsx'
import { Table } from '../../kit/table.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

/** The keys by which an agent that runs elsewhere authenticates. A key is shown once. */
export function Keys({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const token = useSignal<string | undefined>(undefined)
  const query = useQuery(`keys/${agent.id}`, () => request('GET /api/agents/:agentId/keys', { params }))
  const create = async () => {
    const made = await act(() => request('POST /api/agents/:agentId/keys', { params }))
    if (!made) return
    token.value = made.token
    void query.reload()
  }
  const revoke = async (keyId: string, prefix: string) => {
    const isSure = await confirm({
      title: 'Revoke the key?',
      text: `Whatever uses ${prefix}… stops working at once.`,
      action: 'Revoke',
    })
    if (!isSure) return
    if (await act(() => request('DELETE /api/agents/:agentId/keys/:keyId', { params: { ...params, keyId } })))
      toast('The key is revoked.')
    void query.reload()
  }
  const make = <Button onClick={() => void create()}>Create a key</Button>
  return (
    <div class="agent-parts">
      {token.value && (
        <p class="key" role="status">
          Copy the key now; it is not shown again. <code>{token.value}</code>
        </p>
      )}
      <Loaded query={query}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No keys." action={make}>
              Runs on this machine need none. An agent that runs elsewhere uses one.
            </Empty>
          ) : (
            <>
              <Table
                label="Keys"
                rows={list}
                keyOf={({ id }) => id}
                columns={[
                  { title: 'Key', cell: (one) => <code>{one.prefix}…</code> },
                  { title: 'Name', cell: (one) => one.name },
                  { title: 'Created', cell: (one) => <Ago at={one.createdAt} /> },
                  {
                    title: 'Last used',
                    isExtra: true,
                    cell: (one) => (one.lastUsedAt ? <Ago at={one.lastUsedAt} /> : 'never'),
                  },
                  {
                    title: '',
                    isNumber: true,
                    cell: (one) =>
                      one.revokedAt ? (
                        'revoked'
                      ) : (
                        <Button onClick={() => void revoke(one.id, one.prefix)}>Revoke</Button>
                      ),
                  },
                ]}
              />
              <div>{make}</div>
            </>
          )
        }
      </Loaded>
    </div>
  )
}
