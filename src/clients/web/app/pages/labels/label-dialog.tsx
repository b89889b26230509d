import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Field, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { request } from '../../state/api.ts'
import { companyIdNow, labels } from '../../state/company.ts'
import { type OpenedLabel, openedLabel } from '../../state/dialogs.ts'

/** The dialog that creates or changes a label. The frame mounts it once. */
export function LabelDialog() {
  return openedLabel.value ? <Form {...openedLabel.value} /> : null
}

const GREY = '#64748b'

function Form({ label, onSaved }: OpenedLabel) {
  const id = useId()
  const name = useSignal(label?.name ?? '')
  const color = useSignal(label?.color ?? GREY)
  const submit = async () => {
    const body = { name: name.peek().trim(), color: color.peek() }
    const saved = label
      ? await request('PATCH /api/labels/:labelId', { params: { labelId: label.id }, body })
      : await request('POST /api/companies/:companyId/labels', { params: { companyId: companyIdNow() }, body })
    labels.put(saved)
    onSaved?.(saved)
  }
  return (
    <FormDialog
      title={label ? `Change the label ${label.name}` : 'New label'}
      action={label ? 'Save' : 'Create label'}
      onClose={() => {
        openedLabel.value = undefined
      }}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        isRequired
        autoFocus
        value={name.value}
        onInput={(value) => {
          name.value = value
        }}
      />
      <Field id={id} label="Color">
        <input
          id={id}
          type="color"
          value={color.value}
          onInput={(event) => {
            color.value = event.currentTarget.value
          }}
        />
      </Field>
    </FormDialog>
  )
}
