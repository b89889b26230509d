import { readFileSync } from 'node:fs'
import { findShim, runTree } from '../../src/runtime/process/process-table.ts'
import type { Canaries } from './canaries.ts'

/**
 * Searches the arguments of the processes of a run, which every process of the machine can read.
 *
 * @returns the number of processes
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
    return Buffer.alloc(0) // the process has ended, or the machine has no /proc
  }
}
