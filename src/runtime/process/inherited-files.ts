import { closeSync, readdirSync, readFileSync } from 'node:fs'

/** The flag of a file descriptor that the system closes when a program starts (O_CLOEXEC). */
const CLOSED_AT_START = 0o2000000

/**
 * Closes the open files that this process inherited besides standard input,
 * output and error: a shell or a supervisor may have started the server with
 * more. A run would inherit them too, and an open folder leads out of its
 * sandbox. The files of Node itself are closed at the start of a program. Only
 * Linux lists the flags.
 */
export function closeInheritedFiles(): void {
  if (process.platform !== 'linux') return
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
      if (fd > 2 && flags && (Number.parseInt(flags, 8) & CLOSED_AT_START) === 0) closeSync(fd)
    } catch {
      // it was the file of the listing itself
    }
  }
}
