import type { Command } from '../state/commands.ts'

const CONTROLS =
  'button:not(:disabled), a.button, label.button, [role=tab], nav a[href]:not([aria-current]), input[type=checkbox], select'

/** The selector of rows of long lists and of cards of the board. */
const LONG = '.list-row, .card'

/** The selector of rows. The commands of controls in a row include the name of the row. */
const ROW = '[role=listitem], li, tr, article'

/** The selector of the name of a row, such as the name of an agent. */
const NAME = 'b, .row-link, td, code, .clip'

/**
 * Returns a command for each button, tab and filter of the open page, so they
 * can be used from the palette without a mouse. It includes the rows of short
 * lists. Rows of long lists have their own keys.
 *
 * @param known the titles of existing commands
 */
export function pageActions(known: ReadonlySet<string>): Command[] {
  const titles = new Set(known)
  return [...document.querySelectorAll<HTMLElement>(`main :is(${CONTROLS})`)].flatMap((control, index): Command[] => {
    if (control.closest(LONG) || !control.checkVisibility()) return []
    const name = nameOf(control)
    const row = control.closest(ROW)?.querySelector(NAME)?.textContent?.trim()
    const title = row && row !== name ? `${name}: ${row}` : name
    if (name === '' || titles.has(title)) return []
    titles.add(title)
    return [{ id: `page.${index}`, title, group: 'On this page', run: () => press(control) }]
  })
}

/** Returns the name of a control: its label, or its text without the shortcut. */
function nameOf(control: HTMLElement): string {
  const named = control.getAttribute('aria-label') ?? control.title
  if (named) return named
  const text = ((control as HTMLInputElement).labels?.[0] ?? control).cloneNode(true) as HTMLElement
  for (const part of text.querySelectorAll('kbd, svg, input, select, .count, .hint')) part.remove()
  return text.textContent?.trim() ?? ''
}

/** Runs a control after the palette has returned the focus. The control then gets the focus, and a picker opens. */
const press = (control: HTMLElement) =>
  setTimeout(() => {
    control.focus()
    control.click()
  })
