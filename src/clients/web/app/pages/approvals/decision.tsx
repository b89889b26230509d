import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { may } from '../../state/company.ts'
import type { Approval } from '../../state/types.ts'
import { asked, beginDecision, decide } from './decide.ts'
import { approvalTitle } from './meaning.tsx'

/** The buttons that decide an approval, with their keys where the page has them. */
export function DecisionButtons({ approval, hasKeys = false }: { approval: Approval; hasKeys?: boolean }) {
  const hint = (key: string) => (hasKeys ? { hint: key } : {})
  if (!may('admin')) return <span class="note">An admin decides this.</span>
  return (
    <>
      {approval.type === 'allow_folder' ? (
        <>
          <Button kind="primary" {...hint('a')} onClick={() => beginDecision(approval, 'approved', { allow: 'once' })}>
            Allow once
          </Button>
          <Button {...hint('⇧a')} onClick={() => beginDecision(approval, 'approved', { allow: 'always' })}>
            Always allow
          </Button>
        </>
      ) : (
        <Button kind="primary" {...hint('a')} onClick={() => beginDecision(approval, 'approved')}>
          {approval.type === 'hire_agent' ? 'Approve hire' : 'Approve'}
        </Button>
      )}
      <Button {...hint('r')} onClick={() => beginDecision(approval, 'rejected')}>
        Reject
      </Button>
      {approval.type !== 'allow_folder' && (
        <Button kind="quiet" {...hint('v')} onClick={() => beginDecision(approval, 'revision_requested')}>
          Request a revision
        </Button>
      )}
    </>
  )
}

/** Asks for the reason of a refusal. Mounted once, by the frame. */
export function DecisionReason() {
  return asked.value ? <Reason {...asked.value} /> : null
}

function Reason({ approval, outcome }: NonNullable<typeof asked.value>) {
  const text = useSignal('')
  const verb = outcome === 'rejected' ? 'Reject' : 'Request a revision'
  return (
    <FormDialog
      title={`${verb}: ${approvalTitle(approval)}`}
      action={verb}
      tone={outcome === 'rejected' ? 'danger' : 'primary'}
      onClose={() => {
        asked.value = undefined
      }}
      onSubmit={() => decide(approval, outcome, { decisionNote: text.peek().trim() || null })}
    >
      <TextField
        label={outcome === 'rejected' ? 'Why' : 'What is to be changed'}
        hint="The agent that requested it reads this."
        rows={4}
        autoFocus
        value={text.value}
        onInput={(value) => {
          text.value = value
        }}
      />
    </FormDialog>
  )
}
