import { useSignal } from '@preact/signals'
import { signOut } from '../../actions/sign-out.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { request } from '../../state/api.ts'
import { session } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import { Sessions } from './sessions.tsx'
import { Tokens } from './tokens.tsx'

/** The account of the person: password and sign-out. Local trusted mode has no accounts. */
export function Account() {
  const isChanging = useSignal(false)
  const me = session.value
  if (!me || me.name === null) return null
  return (
    <>
      <section class="settings-part">
        <h2>Account</h2>
        <p>
          Signed in as <b>{me.name}</b>.
        </p>
        <div class="settings-row">
          <Button onClick={() => void signOut()}>Sign out</Button>
          <Button
            kind="quiet"
            onClick={() => {
              isChanging.value = true
            }}
          >
            Change the password
          </Button>
        </div>
        {isChanging.value && (
          <ChangePassword
            onClose={() => {
              isChanging.value = false
            }}
          />
        )}
      </section>
      <Sessions />
      <Tokens />
    </>
  )
}

function ChangePassword({ onClose }: { onClose: () => void }) {
  const current = useSignal('')
  const next = useSignal('')
  return (
    <FormDialog
      title="Change the password"
      action="Change the password"
      onClose={onClose}
      onSubmit={async () => {
        await request('POST /api/auth/change-password', {
          body: { currentPassword: current.peek(), newPassword: next.peek() },
        })
        toast('The password is changed. Every other session has ended.')
      }}
    >
      <TextField
        label="Current password"
        type="password"
        isRequired
        autoFocus
        value={current.value}
        onInput={(value) => {
          current.value = value
        }}
      />
      <TextField
        label="New password"
        type="password"
        isRequired
        value={next.value}
        onInput={(value) => {
          next.value = value
        }}
      />
    </FormDialog>
  )
}
