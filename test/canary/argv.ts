import { readFileSync } from 'node:fs'
import { findShim, runTree } from '../../src/runtime/process/process-table.ts'
import type { Canaries } from './canaries.ts'

/**
 * Searches the arguments of a run's processes, which every process of the machine may read.
 *
 * @returns how many processes there were
 */
export function searchArguments(canaries: Canaries, runId: string): number {
  const shim = findShim(runId)
  const processes = [...(shim ? [shim] : []), ...runTree({ runId, leader: shim ?? null })]
  for (const { pid } of processes) canaries.search('the arguments of a process of a run', readArguments(pid))
  return processes.length
}

function readArguments(pid: number): Buffer {
  try {
    return readFileSync(`/proc/${pid}/cmdline`)
  } catch {
    return Buffer.alloc(0) // it has ended, or the machine has no /proc
  }
}
