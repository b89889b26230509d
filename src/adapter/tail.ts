import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { createLines } from '../platform/lines.ts'

/** A reader of a file to which a program appends lines. */
export interface Tail {
  path: string
  /** Returns the offset up to which the file was read, in bytes. */
  offset(): number
  /** Reads the lines that were added since the last call. It never throws and skips a file that is not readable. */
  read(): void
}

/** Opens neither a symbolic link nor a pipe that waits for a writer. */
export const PLAIN = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

const CHUNK_BYTES = 1024 * 1024
/** In bytes. Longer lines are skipped. */
const LONGEST_LINE = 1024 * 1024

/**
 * Opens a file for following.
 *
 * @param from the offset of the first byte to read
 * @param to the offset at which to stop; none by default
 */
export function openTail(
  path: string,
  from: number,
  onLine: (text: string) => void,
  to = Number.POSITIVE_INFINITY,
): Tail {
  let offset = from
  const lines = createLines(LONGEST_LINE, onLine)
  return {
    path,
    offset: () => offset,
    read() {
      let file: number | undefined
      try {
        // The program may have replaced the file by a pipe, for which a blocking call would wait, or by a link to another file.
        file = openSync(path, PLAIN)
        const found = fstatSync(file)
        const size = found.isFile() ? Math.min(found.size, to) : 0
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

/** Follows several files, which may appear at any time. */
export interface Tails {
  /** Skips the present content of the files. */
  skip(): void
  /** Reads the lines that were added since the last call. */
  read(): void
}

/**
 * @param find lists the files that exist
 * @param startOf returns the offset at which to begin a file that is found
 */
export function followFiles(
  find: () => readonly string[],
  onLine: (text: string) => void,
  startOf: (file: string) => number = () => 0,
): Tails {
  const tails = new Map<string, Tail>()
  return {
    skip() {
      for (const file of find()) tails.set(file, openTail(file, sizeOf(file), onLine))
    },
    read() {
      for (const file of find()) {
        if (!tails.has(file)) tails.set(file, openTail(file, startOf(file), onLine))
        tails.get(file)!.read()
      }
    },
  }
}

/** Returns the length of a file in bytes, 0 if it does not exist. */
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * Returns a function that says whether it is time to search for a file again.
 * The pauses double from 50 ms to 2 s, because a search may list many folders.
 * At the end of a run it is always time, because the file may be new.
 */
export function createSearchPauses(): (isEnd: boolean) => boolean {
  let pauseMs = 25
  let next = 0
  return (isEnd) => {
    if (!isEnd && performance.now() < next) return false
    pauseMs = Math.min(pauseMs * 2, 2_000)
    next = performance.now() + pauseMs
    return true
  }
}

/** Lists the names in a folder. Returns an empty list if it does not exist. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
