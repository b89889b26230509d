import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import path from 'node:path'

/**
 * A log of limited size in a folder of its own, which keeps the beginning and
 * the end of what is written:
 *
 *     head         the first half of the cap
 *     tail-<n>     a piece of what follows; n is the offset, in the whole stream, of its first byte
 *
 * Pieces are an eighth of the cap; the last four are kept. Nothing is ever
 * moved or rewritten, so a reader needs only the names (see read-log.ts).
 */
export interface CappedLog {
  /** Appends. A disk that is full or gone costs the bytes, not the run: they count as left out. */
  write(bytes: Buffer): void
  close(): void
}

const KEPT_PIECES = 4

/** @param cap bytes on disk, at most */
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
          // A file is never continued behind a hole: what comes next starts a piece that is named by its offset.
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
