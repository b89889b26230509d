import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'

/** The path of the server's log. When the file is full, it is renamed to `<name>.1`. */
export const logFile = (dataDir: string) => path.join(dataDir, 'logs', 'service.log')

/** The maximum size of each of the two files, in bytes. */
const LARGEST = 5 * 1024 * 1024

/**
 * Writes log lines to a file of limited size. If the disk is full, the lines
 * are dropped; standard error has them too.
 *
 * @returns a function that writes one line
 */
export function openLogFile(file: string): (line: string) => void {
  let size: number | undefined
  return (line) => {
    try {
      if (size === undefined) {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
        size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      }
      if (size > LARGEST) {
        renameSync(file, `${file}.1`)
        size = 0
      }
      appendFileSync(file, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
    } catch {
      size = undefined
    }
  }
}
