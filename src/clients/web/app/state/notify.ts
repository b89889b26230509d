import { effect, signal } from '@preact/signals'
import { pathTo } from './company.ts'
import { whenIdle } from './idle.ts'
import { inbox, isInboxLoaded } from './inbox.ts'

const KEY = 'notifications'

/** Whether the person enabled notifications for new inbox items in this browser. */
export const isNotifying = signal(false)

// Both reads wait for another process of the browser, so they do not delay the first view.
whenIdle(() => {
  isNotifying.value = canNotify() && localStorage.getItem(KEY) === 'on' && Notification.permission === 'granted'
})

/** Whether this browser supports notifications and does not block them. */
export const canNotify = () => 'Notification' in window && Notification.permission !== 'denied'

/** Enables notifications, after the browser asked for permission, or disables them. */
export async function setNotifying(isOn: boolean): Promise<void> {
  const isAllowed = isOn && (await Notification.requestPermission()) === 'granted'
  isNotifying.value = isAllowed
  if (isAllowed) localStorage.setItem(KEY, 'on')
  else localStorage.removeItem(KEY)
}

let known: ReadonlySet<string> | undefined

// Notifies of new items while no tab is visible. Items that existed when the page was opened are not new.
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
    // Notifications with the same tag replace each other, so several tabs cause only one.
    const displayed = new Notification(title, { tag: id, ...(body && { body: body.slice(0, 160) }) })
    displayed.onclick = () => {
      window.focus()
      history.pushState(null, '', pathTo('inbox'))
      dispatchEvent(new PopStateEvent('popstate'))
      displayed.close()
    }
  }
})
