import { effect, signal } from '@preact/signals'
import { company } from './company.ts'
import { inboxCount } from './inbox.ts'

/** What the open page is. */
export const pageTitle = signal('')

// The browser's tab says what the page is, and how much waits for the person.
effect(() => {
  const count = inboxCount.value > 0 ? `(${inboxCount.value}) ` : ''
  document.title = count + ([pageTitle.value, company.value?.name].filter(Boolean).join(' · ') || 'service')
})
