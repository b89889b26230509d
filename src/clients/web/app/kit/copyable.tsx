import copy from 'lucide-static/icons/copy.svg'
import { toast } from '../state/toasts.ts'
import { Button } from './button.tsx'

/** A command or a key with a copy button. */
export function Copyable({ text }: { text: string }) {
  return (
    <div class="copyable">
      <code>{text}</code>
      <Button
        kind="quiet"
        icon={copy}
        label="Copy"
        onClick={() => void navigator.clipboard.writeText(text).then(() => toast('Copied.'))}
      />
    </div>
  )
}
