import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Empty, Loaded } from '../../kit/states.tsx'
import { Table } from '../../kit/table.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'
import { EXPIRIES, type Expiry, expiryAt } from '../settings/expiry.ts'

/** The API keys with which an external agent authenticates. A key is displayed only once. */
export function Keys({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const token = useSignal<string | undefined>(undefined)
  const query = useQuery(`keys/${agent.id}`, () => request('GET /api/agents/:agentId/keys', { params }))
  const revoke = async (keyId: string, prefix: string) => {
    const isSure = await confirm({
      title: 'Revoke the key?',
      text: `Programs that use ${prefix}… lose access immediately.`,
      action: 'Revoke',
    })
    if (!isSure) return
    if (await act(() => request('DELETE /api/agents/:agentId/keys/:keyId', { params: { ...params, keyId } })))
      toast('The key is revoked.')
    void query.reload()
  }
  const isCreating = useSignal(false)
  const make = (
    <Button
      onClick={() => {
        isCreating.value = true
      }}
    >
      Create a key
    </Button>
  )
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
                  { title: 'May', cell: (one) => (one.scope === 'read' ? 'read' : 'work') },
                  { title: 'Created', isExtra: true, cell: (one) => <Ago at={one.createdAt} /> },
                  {
                    title: 'Last used',
                    isExtra: true,
                    cell: (one) => (one.lastUsedAt ? <Ago at={one.lastUsedAt} /> : 'never'),
                  },
                  {
                    title: 'Expires',
                    cell: (one) =>
                      one.expiresAt === null ? (
                        'never'
                      ) : (
                        <span class={Date.parse(one.expiresAt) < Date.now() ? 'error' : ''}>
                          <Ago at={one.expiresAt} />
                        </span>
                      ),
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
      {isCreating.value && (
        <NewKey
          agent={agent}
          onClose={() => {
            isCreating.value = false
          }}
          onCreated={(made) => {
            token.value = made
            void query.reload()
          }}
        />
      )}
    </div>
  )
}

const SCOPES = [
  { value: 'work', label: 'Work: all permissions of the agent' },
  { value: 'read', label: 'Read only' },
] as const

function NewKey(props: { agent: Agent; onClose: () => void; onCreated: (token: string) => void }) {
  const fields = useSignal({ name: '', scope: 'work' as 'work' | 'read', expiry: '90' as Expiry })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { name, scope, expiry } = fields.value
  return (
    <FormDialog
      title={`Create a key of ${props.agent.name}`}
      action="Create the key"
      onClose={props.onClose}
      onSubmit={async () => {
        const made = await request('POST /api/agents/:agentId/keys', {
          params: { agentId: props.agent.id },
          body: { name: name.trim() || 'key', scope, expiresAt: expiryAt(expiry) },
        })
        props.onCreated(made.token)
      }}
    >
      <TextField
        label="Name"
        hint="The program that uses the key."
        autoFocus
        value={name}
        onInput={(value) => set({ name: value })}
      />
      <Select label="May" value={scope} options={SCOPES} onChange={(value) => set({ scope: value })} />
      <Select label="Valid for" value={expiry} options={EXPIRIES} onChange={(value) => set({ expiry: value })} />
    </FormDialog>
  )
}
