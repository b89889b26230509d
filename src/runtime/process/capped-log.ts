import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import path from 'node:path'

/**
 * A log of limited size, which keeps the beginning and the end of the stream as
 * files in a folder:
 *
 *     head         the first half of the cap
 *     tail-<n>     a later piece; n is the offset of its first byte in the whole stream
 *
 * A piece is an eighth of the cap, and the last four are kept. No file is moved
 * or rewritten, so a reader needs only the names (see read-log.ts).
 */
export interface CappedLog {
  /** Appends bytes. If the disk is full or missing, the log drops them, and the run continues. */
  write(bytes: Buffer): void
  close(): void
}

const KEPT_PIECES = 4

/**
 * Opens a new log in a folder, which it creates if necessary.
 *
 * @param cap the size limit on disk, in bytes
 */
export function openCappedLog(folder: string, cap: number): CappedLog {
  const headSize = Math.floor(cap / 2)
  const pieceSize = Math.max(1, Math.floor(cap / 8))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const pieces: string[] = []
  let total = 0
  let file: number | undefined
  let room = 0

  const close = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
    room = 0
  }

  const openNext = () => {
    close()
    const name = path.join(folder, total === 0 ? 'head' : `tail-${total}`)
    file = openSync(name, 'ax', 0o600)
    room = total === 0 ? headSize : pieceSize
    if (total === 0) return
    pieces.push(name)
    if (pieces.length > KEPT_PIECES) unlinkSync(pieces.shift()!)
  }

  return {
    write(bytes) {
      let rest = bytes
      while (rest.length > 0) {
        let written = 0
        try {
          if (room === 0) openNext()
          written = writeSync(file!, rest, 0, Math.min(rest.length, room))
        } catch {
          // The dropped bytes leave a gap, so the next bytes start a new piece, named by its offset.
          close()
          total += rest.length
          return
        }
        total += written
        room -= written
        rest = rest.subarray(written)
      }
    },
    close,
  }
}
