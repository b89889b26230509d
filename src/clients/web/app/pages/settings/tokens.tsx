import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { Copyable } from '../../kit/copyable.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import { EXPIRIES, type Expiry, expiryAt } from './expiry.ts'

/** The person's API tokens. Scripts and the command line use them to act as the person. */
export function Tokens() {
  const isCreating = useSignal(false)
  const made = useSignal<string | undefined>(undefined)
  const query = useQuery('tokens', () => request('GET /api/board/tokens'))
  const revoke = async (tokenId: string, name: string) => {
    const isSure = await confirm({
      title: `Revoke ${name}?`,
      text: 'Programs that use it lose access immediately.',
      action: 'Revoke',
    })
    if (!isSure) return
    if (await act(() => request('DELETE /api/board/tokens/:tokenId', { params: { tokenId } })))
      toast(`${name} is revoked.`)
    void query.reload()
  }
  return (
    <section class="settings-part">
      <h2>Tokens</h2>
      <p class="note">A token gives a script or the command line your permissions.</p>
      {made.value && (
        <div role="status">
          <p>Copy the token now; it is not shown again.</p>
          <Copyable text={made.value} />
        </div>
      )}
      <Loaded query={query} skeleton={<Skeleton rows={1} height={48} />}>
        {(all) => {
          const list = all.filter(({ revokedAt }) => revokedAt === null)
          return (
            list.length > 0 && (
              <ul class="lines places-list">
                {list.map((one) => (
                  <li key={one.id}>
                    <div class="place-main">
                      <span>
                        <b>{one.name}</b> <code class="id">{one.prefix}…</code>
                      </span>
                      <span class="note">
                        {one.lastUsedAt ? (
                          <>
                            used <Ago at={one.lastUsedAt} />
                          </>
                        ) : (
                          'never used'
                        )}
                        {', '}
                        {one.expiresAt ? (
                          <>
                            {Date.parse(one.expiresAt) < Date.now() ? 'expired' : 'expires'} <Ago at={one.expiresAt} />
                          </>
                        ) : (
                          'does not expire'
                        )}
                      </span>
                    </div>
                    <span class="line-end">
                      <Button kind="quiet" onClick={() => void revoke(one.id, one.name)}>
                        Revoke
                      </Button>
                    </span>
                  </li>
                ))}
              </ul>
            )
          )
        }}
      </Loaded>
      <div>
        <Button
          onClick={() => {
            isCreating.value = true
          }}
        >
          Create a token
        </Button>
      </div>
      {isCreating.value && (
        <NewToken
          onClose={() => {
            isCreating.value = false
          }}
          onCreated={(token) => {
            made.value = token
            void query.reload()
          }}
        />
      )}
    </section>
  )
}

function NewToken({ onClose, onCreated }: { onClose: () => void; onCreated: (token: string) => void }) {
  const name = useSignal('')
  const expiry = useSignal<Expiry>('90')
  return (
    <FormDialog
      title="Create a token"
      action="Create the token"
      onClose={onClose}
      onSubmit={async () => {
        const body = { name: name.peek().trim() || 'token', expiresAt: expiryAt(expiry.peek()) }
        onCreated((await request('POST /api/board/tokens', { body })).token)
      }}
    >
      <TextField
        label="Name"
        hint="The place where it is used, such as laptop or CI."
        autoFocus
        value={name.value}
        onInput={(value) => {
          name.value = value
        }}
      />
      <Select
        label="Valid for"
        value={expiry.value}
        options={EXPIRIES}
        onChange={(value) => {
          expiry.value = value
        }}
      />
    </FormDialog>
  )
}
