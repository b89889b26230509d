import { signal } from '@preact/signals'
import x from 'lucide-static/icons/x.svg'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** The buttons at the end, main button last. */
  actions?: ComponentChildren
  width?: number
  /** Hides the title. Screen readers still read it as the name of the dialog. */
  isBare?: boolean
}

/** A modal dialog. Escape and a click outside close it. Then the focus returns to the previous element. */
export function Dialog({ title, onClose, children, actions, width = 480, isBare }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current!
    const before = document.activeElement
    dialog.showModal()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={isBare ? 'dialog bare' : 'dialog'}
      style={{ '--width': `${width}px` }}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
      onMouseDown={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-box">
        <header class={isBare ? 'hidden' : 'dialog-head'}>
          <h2 id={id}>{title}</h2>
          {!isBare && <Button kind="quiet" icon={x} label="Close" onClick={onClose} />}
        </header>
        {children}
        {actions && <footer class="dialog-foot">{actions}</footer>}
      </div>
    </dialog>
  )
}

interface Question {
  title: string
  /** The consequences, with numbers. */
  text: ComponentChildren
  /** The text of the confirm button, a verb. */
  action: string
  tone?: 'primary' | 'danger'
}

const openQuestion = signal<(Question & { resolve: (yes: boolean) => void }) | undefined>(undefined)

/** Asks for confirmation of an irreversible action. @returns whether the person confirmed */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      resolve: (yes) => {
        openQuestion.value = undefined
        resolve(yes)
      },
    }
  })
}

/** Displays the dialog of `confirm`. The frame mounts it once. */
export function Confirmation() {
  const question = openQuestion.value
  if (!question) return null
  const { title, text, action, tone = 'danger', resolve: response } = question
  return (
    <Dialog
      title={title}
      width={420}
      onClose={() => response(false)}
      actions={
        <>
          <Button onClick={() => response(false)}>Cancel</Button>
          <Button kind={tone} autoFocus onClick={() => response(true)}>
            {action}
          </Button>
        </>
      }
    >
      <div class="dialog-body">{text}</div>
    </Dialog>
  )
}
