import { useSignal } from '@preact/signals'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Picker } from '../../kit/menu.tsx'
import { may } from '../../state/company.ts'
import type { Approval } from '../../state/types.ts'
import { beginDecision, type Details, decide, pendingDecision } from './decide.ts'
import { approvalTitle, boardRequestOf } from './meaning.tsx'

/** The buttons that decide an approval, with their shortcuts if the page has them. */
export function DecisionButtons({ approval, hasKeys = false }: { approval: Approval; hasKeys?: boolean }) {
  const hint = (key: string) => (hasKeys ? { hint: key } : {})
  if (!may('admin')) return <span class="note">An admin decides this.</span>
  return (
    <>
      <ApproveButtons approval={approval} hasKeys={hasKeys} />
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

/** The maximum number of options that are displayed as buttons. More options are displayed as a list. */
const MAX_BUTTONS = 4

function ApproveButtons({ approval, hasKeys }: { approval: Approval; hasKeys: boolean }) {
  const approve = (details?: Details) => () => beginDecision(approval, 'approved', details)
  const hint = (key: string) => (hasKeys ? { hint: key } : {})
  if (approval.type === 'allow_folder') {
    return (
      <>
        <Button kind="primary" {...hint('a')} onClick={approve({ allow: 'once' })}>
          Allow once
        </Button>
        <Button {...hint('⇧a')} onClick={approve({ allow: 'always' })}>
          Always allow
        </Button>
      </>
    )
  }
  const { options = [], recommended } = boardRequestOf(approval)
  if (approval.type === 'request_board_approval' && options.length > 0) {
    const isPreferred = (option: string) => option === recommended
    if (options.length > MAX_BUTTONS) {
      return (
        <Picker
          label="Choose an option"
          class="button primary"
          options={options.map((value) => ({
            value,
            label: value,
            ...(isPreferred(value) && { note: 'recommended' }),
          }))}
          onPick={(option) => approve({ option })()}
        >
          Choose…
        </Picker>
      )
    }
    return options.map((option) => (
      <Button
        key={option}
        kind={isPreferred(option) ? 'primary' : 'plain'}
        {...(isPreferred(option) && hint('a'))}
        onClick={approve({ option })}
      >
        {option}
      </Button>
    ))
  }
  return (
    <Button kind="primary" {...hint('a')} onClick={approve()}>
      {approval.type === 'hire_agent' ? 'Approve hire' : 'Approve'}
    </Button>
  )
}

/** The dialog that asks for the reason of a rejection. The frame mounts it once. */
export function DecisionReason() {
  return pendingDecision.value ? <Reason {...pendingDecision.value} /> : null
}

function Reason({ approval, outcome }: NonNullable<typeof pendingDecision.value>) {
  const text = useSignal('')
  const verb = outcome === 'rejected' ? 'Reject' : 'Request a revision'
  return (
    <FormDialog
      title={`${verb}: ${approvalTitle(approval)}`}
      action={verb}
      tone={outcome === 'rejected' ? 'danger' : 'primary'}
      onClose={() => {
        pendingDecision.value = undefined
      }}
      onSubmit={() => decide(approval, outcome, { decisionNote: text.peek().trim() || null })}
    >
      <TextField
        label={outcome === 'rejected' ? 'Why' : 'Required changes'}
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
