import { signal } from '@preact/signals'

/** Whether the last write failed because the server's disk is full. */
export const isDiskFull = signal(false)

const DISK_FULL = 507

/** Updates the state from the response to a write. Reads do not use the disk space. */
export function noteDisk(method: string, status: number): void {
  if (status === DISK_FULL) isDiskFull.value = true
  else if (method !== 'GET' && status < 400) isDiskFull.value = false
}
