import { computed, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** Something that a person can do: the palette lists it, its keys do it, and `?` shows them. */
export interface Command {
  id: string
  title: string
  /** Such as `c`, `g i` (one after the other), `mod+k` or `Escape`. */
  keys?: string
  /** Under which heading the palette and the help list it. */
  group: string
  run: () => void
  /** Left out of the palette: it makes sense by its key alone. */
  isKeyOnly?: boolean
}

const layers = signal<readonly { current: readonly Command[] }[]>([])

/** Every command that can be run now; those of the page that was opened last come first. */
export const commands = computed(() => layers.value.flatMap((layer) => layer.current))

/** Offers commands while a component is shown. */
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

/** What the layers offer now: the refs change without a signal. */
export const currentCommands = () => layers.peek().flatMap((layer) => layer.current)

/** The first key of two, such as `g`, waits so long for the second, in milliseconds. */
const SEQUENCE_MS = 1_200
let first: { key: string; at: number } | undefined

/** Runs the command of a pressed key. Keys that are typed into a field are left alone. */
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
