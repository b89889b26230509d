import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import path from 'node:path'
import { exitFile, logFolder } from '../process/run-files.ts'

export interface LogPart {
  text: string
  /** The offset of the next part in the whole log, in bytes. */
  nextOffset: number
  /** Whether this part is the last one. */
  isComplete: boolean
}

/**
 * Reads a part of a run's log, while the log grows or afterwards. If the size
 * limit of the log removed bytes of this part, one line in the text says how
 * many; they count in the offset. A part never ends within a character.
 *
 * @param offset the first byte, in the whole log
 * @param maxBytes the size limit of the part; at least 16
 */
export function readLog(runDir: string, offset: number, maxBytes: number): LogPart {
  const ended = existsSync(exitFile(runDir)) // checked first: the shim completes the log before it writes this file
  const texts: string[] = []
  let stretch: Buffer[] = []
  let budget = Math.max(16, maxBytes)
  let at = offset
  let more = false
  for (const { start, file } of openPieces(logFolder(runDir))) {
    try {
      const end = start + fstatSync(file).size
      if (end <= at) continue
      if (budget <= 0) {
        more = true
        break
      }
      if (start > at) {
        texts.push(decode(stretch, true), `\n[... ${start - at} bytes left out ...]\n`)
        stretch = []
        at = start
      }
      const bytes = Buffer.allocUnsafe(Math.min(budget, end - at))
      const length = readSync(file, bytes, 0, bytes.length, at - start)
      const skipped = texts.length > 0 && stretch.length === 0 ? continuationBytes(bytes.subarray(0, length)) : 0
      stretch.push(bytes.subarray(skipped, length))
      at += length
      budget -= length
      if (at < end) more = true
    } finally {
      closeSync(file)
    }
  }
  const isComplete = ended && !more
  const open = isComplete ? 0 : openBytes(Buffer.concat(stretch.slice(-2)))
  texts.push(decode(stretch, !isComplete))
  return { text: texts.join(''), nextOffset: at - open, isComplete }
}

/** Opens the files of a log in order. It skips a file that is deleted meanwhile, which then counts as removed bytes. */
function* openPieces(folder: string): Generator<{ start: number; file: number }> {
  for (const { start, name } of listPieces(folder)) {
    let file: number
    try {
      file = openSync(path.join(folder, name), 'r')
    } catch {
      continue
    }
    yield { start, file }
  }
}

function listPieces(folder: string): { start: number; name: string }[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return [] // the log does not exist yet
  }
  return names
    .flatMap((name) => {
      const start = name === 'head' ? 0 : Number(/^tail-(\d+)$/.exec(name)?.[1] ?? Number.NaN)
      return Number.isNaN(start) ? [] : [{ start, name }]
    })
    .sort((a, b) => a.start - b.start)
}

function decode(parts: Buffer[], cutOpen: boolean): string {
  const bytes = Buffer.concat(parts)
  return bytes.toString('utf8', 0, bytes.length - (cutOpen ? openBytes(bytes) : 0))
}

/** Returns the number of bytes at the end that belong to an incomplete UTF-8 character. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}

/** Returns the number of bytes at the beginning that belong to a character whose start was removed. */
function continuationBytes(bytes: Buffer): number {
  let count = 0
  while (count < Math.min(3, bytes.length) && (bytes[count]! & 0xc0) === 0x80) count++
  return count
}
