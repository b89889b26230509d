import { effect, signal } from '@preact/signals'
import { pathTo } from './company.ts'
import { inbox, isInboxLoaded } from './inbox.ts'

const KEY = 'notifications'

/** Whether the person wants this browser to say what is new in the inbox. */
export const isNotifying = signal(
  'Notification' in window && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on',
)

/** Whether this browser can, and was not forbidden to. */
export const canNotify = () => 'Notification' in window && Notification.permission !== 'denied'

/** Turns notifications on, after the browser has asked, or off. */
export async function setNotifying(isOn: boolean): Promise<void> {
  const isAllowed = isOn && (await Notification.requestPermission()) === 'granted'
  isNotifying.value = isAllowed
  if (isAllowed) localStorage.setItem(KEY, 'on')
  else localStorage.removeItem(KEY)
}

let known: ReadonlySet<string> | undefined

// What comes while nobody looks is said; what was there when the page was opened is not new.
effect(() => {
  const items = inbox.value
  if (!isInboxLoaded.value) {
    known = undefined
    return
  }
  const before = known
  known = new Set(items.map(({ id, at }) => `${id} ${at}`))
  if (!before || !isNotifying.peek() || !document.hidden) return
  for (const { id, at, title, body } of items) {
    if (before.has(`${id} ${at}`)) continue
    // The same tag from several tabs is one notification.
    const shown = new Notification(title, { tag: id, ...(body && { body: body.slice(0, 160) }) })
    shown.onclick = () => {
      window.focus()
      history.pushState(null, '', pathTo('inbox'))
      dispatchEvent(new PopStateEvent('popstate'))
      shown.close()
    }
  }
})
