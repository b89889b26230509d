import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { createLines } from '../platform/lines.ts'

/** A reader of a file to which a program appends lines. */
export interface Tail {
  path: string
  /** Returns the offset up to which the file was read, in bytes. */
  offset(): number
  /** Reads the lines that were added since the last call. It never throws and skips a file that is not readable. */
  read(): void
}

const CHUNK_BYTES = 1024 * 1024
/** In bytes. Longer lines are skipped. */
const LONGEST_LINE = 1024 * 1024

/**
 * Opens a file for following.
 *
 * @param from the offset of the first byte to read
 */
export function openTail(path: string, from: number, onLine: (text: string) => void): Tail {
  let offset = from
  const lines = createLines(LONGEST_LINE, onLine)
  return {
    path,
    offset: () => offset,
    read() {
      let file: number | undefined
      try {
        file = openSync(path, 'r')
        const { size } = fstatSync(file)
        while (offset < size) {
          const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - offset))
          const length = readSync(file, bytes, 0, bytes.length, offset)
          if (length === 0) return
          offset += length
          lines.push(bytes.subarray(0, length))
        }
      } catch {
        // The file is gone or not readable. The program's output still provides its usage.
      } finally {
        if (file !== undefined) closeSync(file)
      }
    },
  }
}
