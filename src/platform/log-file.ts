import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'

/** Where a server keeps its log; the one before it, when it grew too large, is `<name>.1` beside it. */
export const logFile = (dataDir: string) => path.join(dataDir, 'logs', 'service.log')

/** In bytes; so much twice is what the log takes at most. */
const LARGEST = 5 * 1024 * 1024

/**
 * Keeps log lines in a file of limited size. A disk that is full costs the
 * lines and nothing else: they are on standard error too.
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
