import { signal, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Field, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { request } from '../../state/api.ts'
import { companyIdNow, labels } from '../../state/company.ts'
import type { Label } from '../../state/types.ts'

interface Opened {
  /** The label to change. Without it, the dialog creates a label. */
  label?: Label
  onSaved?: ((label: Label) => unknown) | undefined
}

const opened = signal<Opened | undefined>(undefined)

export const openNewLabel = (onSaved?: (label: Label) => unknown) => {
  opened.value = { onSaved }
}

export const openLabel = (label: Label) => {
  opened.value = { label }
}

/** The dialog that creates or changes a label. The frame mounts it once. */
export function LabelDialog() {
  return opened.value ? <Form {...opened.value} /> : null
}

const GREY = '#64748b'

function Form({ label, onSaved }: Opened) {
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
        opened.value = undefined
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
      <Field id={id} label="Colour">
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
