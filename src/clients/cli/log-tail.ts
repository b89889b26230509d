import { closeSync, type FSWatcher, fstatSync, openSync, readSync, watch } from 'node:fs'
import path from 'node:path'

/** The maximum number of bytes that are read from the end of a log file. */
const TAIL_BYTES = 1024 * 1024

/** A position in a log file. */
interface Position {
  inode: number
  offset: number
}

interface Part extends Position {
  text: string
}

/**
 * Reads the last lines of a log. If the current file has too few lines, it also
 * reads the rotated files.
 *
 * @param isWanted whether to return a line
 * @returns undefined if there is no log
 */
export function readLastLines(
  file: string,
  count: number,
  isWanted: (line: string) => boolean,
): { lines: string[]; end: Position } | undefined {
  const current = readPart(file)
  if (!current) return undefined
  let lines: string[] = []
  for (let n = 0; lines.length < count; n++) {
    const part = n === 0 ? current : readPart(`${file}.${n}`)
    if (!part) break
    lines = [...part.text.split('\n').filter((line) => line !== '' && isWanted(line)), ...lines]
  }
  return { lines: lines.slice(Math.max(0, lines.length - count)), end: current }
}

/**
 * Calls `onLine` with each line that is added to a log, also after a rotation.
 *
 * @returns the watcher; close it to stop
 */
export function followLines(file: string, from: Position, onLine: (line: string) => void): FSWatcher {
  let { inode, offset } = from
  let rest = ''
  const take = (part: Part | undefined) => {
    if (!part) return
    const lines = (rest + part.text).split('\n')
    rest = lines.pop()!
    ;({ inode, offset } = part)
    for (const line of lines) onLine(line)
  }
  const look = () => {
    const part = readPart(file, { inode, offset })
    // A rotated file may have lines that were not read yet.
    if (part && part.inode !== inode) {
      const rotated = readPart(`${file}.1`, { inode, offset })
      if (rotated?.inode === inode) take(rotated)
    }
    take(part)
  }
  const watcher = watch(path.dirname(file), look)
  look() // reads the lines that were added before the watcher started
  return watcher
}

/** Reads a file from a position. Without one, or if the file was replaced or truncated, it reads the last part. */
function readPart(name: string, from?: Position): Part | undefined {
  let file: number
  try {
    file = openSync(name, 'r')
  } catch {
    return undefined
  }
  try {
    const { size, ino } = fstatSync(file)
    const start = from?.inode === ino && from.offset <= size ? from.offset : Math.max(0, size - TAIL_BYTES)
    const bytes = Buffer.allocUnsafe(size - start)
    return { text: bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start)), inode: ino, offset: size }
  } finally {
    closeSync(file)
  }
}
