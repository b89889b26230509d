import { signal } from '@preact/signals'

export interface Toast {
  id: number
  text: string
  tone: 'plain' | 'danger'
  undo: (() => void) | undefined
}

export const toasts = signal<Toast[]>([])
let last = 0

/** The display time of a toast, in milliseconds. A toast with an undo button or an error is displayed longer. */
const STAY_MS = 4_000
const LONG_STAY_MS = 9_000

/** Displays a message, optionally with an undo button. */
export function toast(text: string, { undo, tone = 'plain' }: { undo?: () => void; tone?: Toast['tone'] } = {}): void {
  const one = { id: ++last, text, tone, undo }
  toasts.value = [...toasts.value.slice(-3), one]
  setTimeout(() => dismiss(one.id), undo || tone === 'danger' ? LONG_STAY_MS : STAY_MS)
}

export const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}
