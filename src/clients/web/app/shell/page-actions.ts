import type { Command } from '../state/commands.ts'

const CONTROLS =
  'button:not(:disabled), a.button, label.button, [role=tab], nav a[href]:not([aria-current]), input[type=checkbox], select'

/** What stands once for each row is named with its row. */
const ROW = '[role=listitem], li, tr, article'

/** A row's own name, such as that of an agent. */
const NAME = 'b, .row-link, td, code, .clip'

/**
 * Every button, tab and filter that the open page shows, as a command: each can
 * be reached from the palette without a mouse. Rows of a long list have their
 * own keys, so only those of short lists are here.
 *
 * @param known the titles that commands have already
 */
export function pageActions(known: ReadonlySet<string>): Command[] {
  const titles = new Set(known)
  return [...document.querySelectorAll<HTMLElement>(`main :is(${CONTROLS})`)].flatMap((control, index): Command[] => {
    if (control.closest('.list') || !control.checkVisibility()) return []
    const name = nameOf(control)
    const row = control.closest(ROW)?.querySelector(NAME)?.textContent?.trim()
    const title = row && row !== name ? `${name}: ${row}` : name
    if (name === '' || titles.has(title)) return []
    titles.add(title)
    return [{ id: `page.${index}`, title, group: 'On this page', run: () => press(control) }]
  })
}

/** The name of a control: its label, or its text without the key that stands in it. */
function nameOf(control: HTMLElement): string {
  const named = control.getAttribute('aria-label') ?? control.title
  if (named) return named
  const text = ((control as HTMLInputElement).labels?.[0] ?? control).cloneNode(true) as HTMLElement
  for (const part of text.querySelectorAll('kbd, svg, input, select, .count, .hint')) part.remove()
  return text.textContent?.trim() ?? ''
}

/** The palette gives the focus back first; then the control takes it, and a choice opens. */
const press = (control: HTMLElement) =>
  setTimeout(() => {
    control.focus()
    control.click()
  })
