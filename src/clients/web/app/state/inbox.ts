import { signal } from '@preact/signals'

/** How much waits for the person. The inbox sets it. */
export const inboxCount = signal(0)
