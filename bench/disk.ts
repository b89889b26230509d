import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

/** About what a commit of 16 comments writes to the log, in bytes. */
const COMMIT_BYTES = 300_000

const SYNCS = 15

/** Returns the median time that the disk takes for the sync of a commit, in milliseconds. */
export function measureSync(folder: string): number {
  const file = path.join(folder, 'sync')
  const descriptor = openSync(file, 'w')
  const bytes = Buffer.alloc(COMMIT_BYTES, 1)
  const times = Array.from({ length: SYNCS }, () => {
    writeSync(descriptor, bytes, 0, bytes.length, 0)
    const started = performance.now()
    fsyncSync(descriptor)
    return performance.now() - started
  })
  closeSync(descriptor)
  rmSync(file)
  return times.sort((a, b) => a - b)[Math.floor(SYNCS / 2)]!
}
