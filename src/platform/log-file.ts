import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'

/** The path of the server's log. When the file is full, it is renamed to `<name>.1`, and that one to `<name>.2`. */
export const logFile = (dataDir: string) => path.join(dataDir, 'logs', 'service.log')

/** The maximum size of each file, in bytes. */
const MAX_SIZE = 5 * 1024 * 1024

/**
 * Writes log lines to a file of limited size. If the disk is full, the lines
 * are dropped; standard error has them too.
 *
 * @param files the maximum number of files, including the current one
 * @returns a function that writes one line
 */
export function openLogFile(file: string, files = 5): (line: string) => void {
  let size: number | undefined
  return (line) => {
    try {
      if (size === undefined) {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
        size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      }
      if (size > MAX_SIZE) {
        rotate(file, files)
        size = 0
      }
      appendFileSync(file, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
    } catch {
      size = undefined
    }
  }
}

/** Renames each file to the next number. The oldest one is overwritten. */
function rotate(file: string, files: number): void {
  const nameOf = (n: number) => (n === 0 ? file : `${file}.${n}`)
  for (let n = files - 1; n > 0; n--) {
    if (statSync(nameOf(n - 1), { throwIfNoEntry: false })) renameSync(nameOf(n - 1), nameOf(n))
  }
}
