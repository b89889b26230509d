import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { companyIdNow, may } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { SettingsPlace } from '../settings/place.tsx'

type Secret = Received<'GET /api/companies/:companyId/secrets'>[number]

/** The secrets by name. A value can be replaced, but never read. */
export function SecretsPage() {
  const form = useSignal<{ secret?: Secret } | undefined>(undefined)
  const query = useQuery(
    'secrets',
    () => request('GET /api/companies/:companyId/secrets', { params: { companyId: companyIdNow() } }),
    ({ data }) => data.entityType === 'secret',
  )
  const open = (secret?: Secret) => {
    form.value = secret ? { secret } : {}
  }
  useCommands(may('admin') ? [{ id: 'secret.new', title: 'New secret', keys: 'n', group: 'Secrets', run: open }] : [])
  return (
    <SettingsPlace
      here="secrets"
      actions={
        may('admin') &&
        query.data.value?.length !== 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={() => open()}>
            New secret
          </Button>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={4} height={44} />}>
        {(secrets) =>
          secrets.length === 0 ? (
            <Empty
              title="No secrets yet."
              action={
                may('admin') && (
                  <Button kind="primary" hint="n" onClick={() => open()}>
                    Store the first secret
                  </Button>
                )
              }
            >
              Agents get a secret as an environment variable. Nobody can read its value here.
            </Empty>
          ) : (
            <ul class="lines places-list">
              {secrets.map((secret) => (
                <li key={secret.id}>
                  <div class="place-main">
                    <code>{secret.name}</code>
                    <span class="note">{secret.description}</span>
                  </div>
                  <span class="line-end">
                    <span class="note">
                      version {secret.version}, <Ago at={secret.updatedAt} />
                    </span>
                    {may('admin') && (
                      <>
                        <Button kind="quiet" onClick={() => open(secret)}>
                          Replace
                        </Button>
                        <Button kind="quiet" onClick={() => void remove(secret)}>
                          Delete
                        </Button>
                      </>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {!may('admin') && <p class="note">An admin can store and replace secrets.</p>}
      {form.value && (
        <SecretForm
          {...form.value}
          onClose={() => {
            form.value = undefined
          }}
        />
      )}
    </SettingsPlace>
  )
}

async function remove(secret: Secret): Promise<void> {
  const found = await act(() => request('GET /api/secrets/:secretId', { params: { secretId: secret.id } }))
  if (!found) return
  const isUsed = found.usedBy.length > 0
  const isSure = await confirm({
    title: `Delete ${secret.name}?`,
    text: isUsed
      ? `${found.usedBy.map(({ name }) => name).join(', ')} will start without it.`
      : 'It is not used. Its value cannot be recovered.',
    action: 'Delete the secret',
  })
  if (!isSure) return
  await act(() =>
    request('DELETE /api/secrets/:secretId', {
      params: { secretId: secret.id },
      query: { force: isUsed ? 'true' : undefined },
    }),
  )
  invalidate('secrets')
}

function SecretForm({ secret, onClose }: { secret?: Secret; onClose: () => void }) {
  const name = useSignal('')
  const value = useSignal('')
  const description = useSignal('')
  return (
    <FormDialog
      title={secret ? `Replace ${secret.name}` : 'New secret'}
      action={secret ? 'Replace the value' : 'Store secret'}
      onClose={onClose}
      onSubmit={async () => {
        if (secret) {
          await request('POST /api/secrets/:secretId/rotate', {
            params: { secretId: secret.id },
            body: { value: value.peek() },
          })
        } else {
          await request('POST /api/companies/:companyId/secrets', {
            params: { companyId: companyIdNow() },
            body: { name: name.peek().trim(), value: value.peek(), description: description.peek().trim() || null },
          })
        }
        invalidate('secrets')
      }}
    >
      {!secret && (
        <TextField
          label="Name"
          placeholder="NPM_TOKEN"
          autoFocus
          isRequired
          value={name.value}
          onInput={(text) => {
            name.value = text
          }}
        />
      )}
      <TextField
        label="Value"
        type="password"
        isRequired
        hint={secret ? 'New runs use the new value.' : 'It is stored encrypted and never shown again.'}
        value={value.value}
        onInput={(text) => {
          value.value = text
        }}
      />
      {!secret && (
        <TextField
          label="Purpose"
          value={description.value}
          onInput={(text) => {
            description.value = text
          }}
        />
      )}
    </FormDialog>
  )
}
