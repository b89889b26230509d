import { effect, signal } from '@preact/signals'
import { company } from './company.ts'
import { inboxCount } from './inbox.ts'

/** The title of the open page. */
export const pageTitle = signal('')

const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
const plainIcon = icon?.href
/** The icon with a dot, displayed if the inbox has items. */
const dottedIcon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4353c8"/><path d="M9 21.5 16 8l7 13.5M12 17.5h8" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><circle cx="25" cy="7" r="7" fill="#e5484d" stroke="#fff" stroke-width="1.5"/></svg>',
)}`

effect(() => {
  if (icon && plainIcon) icon.href = inboxCount.value > 0 ? dottedIcon : plainIcon
})

// The title of the browser tab has the page title and the number of inbox items.
effect(() => {
  const count = inboxCount.value > 0 ? `(${inboxCount.value}) ` : ''
  document.title = count + ([pageTitle.value, company.value?.name].filter(Boolean).join(' · ') || 'service')
})
