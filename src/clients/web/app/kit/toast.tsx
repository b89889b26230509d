import x from 'lucide-static/icons/x.svg'
import { dismiss, toasts } from '../state/toasts.ts'
import { Button } from './button.tsx'

/** The toasts at the bottom of the page. Screen readers announce them. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, undo }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          {undo && (
            <Button
              kind="quiet"
              onClick={() => {
                dismiss(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          <Button kind="quiet" icon={x} label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
