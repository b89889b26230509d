import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { reasonOf } from '../state/act.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  title: string
  /** The text of the submit button, a verb. */
  action: string
  tone?: 'primary' | 'danger'
  width?: number
  onClose: () => void
  /** Sends the form. The dialog closes on success and displays the error otherwise. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
}

/** A dialog with fields. If the server rejects the request, it stays open and keeps the input. */
export function FormDialog({
  title,
  action,
  tone = 'primary',
  width = 480,
  onClose,
  onSubmit,
  children,
}: FormDialogProps) {
  const id = useId()
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const submit = async () => {
    if (isBusy.peek()) return
    isBusy.value = true
    try {
      await onSubmit()
      onClose()
    } catch (thrown) {
      error.value = reasonOf(thrown)
    }
    isBusy.value = false
  }
  return (
    <Dialog
      title={title}
      width={width}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={tone} type="submit" form={id} isDisabled={isBusy.value}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="dialog-body form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {children}
        {error.value && (
          <p class="error" role="alert">
            {error.value}
          </p>
        )}
      </form>
    </Dialog>
  )
}
