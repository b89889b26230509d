import { signal } from '@preact/signals'

/** Whether the last change failed because the server's disk is full. */
export const isDiskFull = signal(false)

const DISK_FULL = 507

/** Learns from the response to a change; a read says nothing about the disk. */
export function noteDisk(method: string, status: number): void {
  if (status === DISK_FULL) isDiskFull.value = true
  else if (method !== 'GET' && status < 400) isDiskFull.value = false
}
