import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { createLines } from '../platform/lines.ts'

/** A file that a program appends lines to. */
export interface Tail {
  path: string
  /** The end of what was read, in bytes. */
  offset(): number
  /** Reads the lines that were added since the last call. Never throws: a file that cannot be read adds nothing. */
  read(): void
}

const CHUNK_BYTES = 1024 * 1024
/** In bytes; a longer line is skipped. */
const LONGEST_LINE = 1024 * 1024

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
        // It is gone or not readable: the program's own output remains.
      } finally {
        if (file !== undefined) closeSync(file)
      }
    },
  }
}
