import { computed, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** A command: the palette lists it, its keys run it, and `?` lists the keys. */
export interface Command {
  id: string
  title: string
  /** The keys, such as `c`, `g i` (one after the other), `mod+k` or `Escape`. */
  keys?: string
  /** The heading in the palette and the help. */
  group: string
  run: () => void
  /** Whether the palette omits it. Such a command is useful only by its key. */
  isKeyOnly?: boolean
}

const layers = signal<readonly { current: readonly Command[] }[]>([])

/** The available commands. The commands of the most recently opened component come first. */
export const commands = computed(() => layers.value.flatMap((layer) => layer.current))

/** Registers commands while a component is mounted. */
export function useCommands(list: readonly Command[]): void {
  const layer = useRef(list)
  layer.current = list
  useEffect(() => {
    layers.value = [layer, ...layers.peek()]
    return () => {
      layers.value = layers.peek().filter((one) => one !== layer)
    }
  }, [])
}

/** Returns the current commands of all layers. The refs change without a signal. */
export const currentCommands = () => layers.peek().flatMap((layer) => layer.current)

/** The time to press the second key of a sequence such as `g i`, in milliseconds. */
const SEQUENCE_MS = 1_200
let first: { key: string; at: number } | undefined

/** Runs the command of a pressed key. Keys pressed in a text field are ignored. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')
  const isMod = event.metaKey || event.ctrlKey
  if (event.altKey || (isTyping && !isMod && event.key !== 'Escape')) return
  if (isTyping && event.key === 'Escape') {
    ;(event.target as HTMLElement).blur()
    return
  }
  if (document.querySelector('dialog[open]') && !isMod) return
  const key = `${isMod ? 'mod+' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
  const pressed = event.shiftKey && /^[a-z]$/.test(key) ? `shift+${key}` : key
  const sequence = first && Date.now() - first.at < SEQUENCE_MS ? `${first.key} ${pressed}` : undefined
  first = undefined
  const all = currentCommands()
  const command =
    all.find(({ keys }) => keys === sequence && sequence !== undefined) ?? all.find(({ keys }) => keys === pressed)
  if (command) {
    event.preventDefault()
    command.run()
  } else if (all.some(({ keys }) => keys?.startsWith(`${pressed} `))) {
    first = { key: pressed, at: Date.now() }
  }
}
