import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs'

/** A path, and the real path to which it led when the server checked it. */
export interface CheckedPath {
  path: string
  real: string
}

/**
 * Opens a file or folder, and requires that its path still leads to the real
 * path that the server checked. Another run may have replaced a folder of the
 * path by a symbolic link since. Whoever uses the file descriptor, not the
 * path, uses what was checked.
 *
 * @throws an error with the code `ECHANGED` if the path leads elsewhere or nowhere
 */
export function openChecked({ path, real }: CheckedPath): number {
  const fd = open(path)
  if (realPathOf(fd, path) === real) return fd
  closeSync(fd)
  throw changed(`${path} no longer leads to the place that the server checked: a folder of the path was replaced.`)
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw changed(`${path} cannot be opened (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const changed = (message: string) => Object.assign(new Error(message), { code: 'ECHANGED' })

/** Whether an error says that a path no longer leads to what was checked. */
export const isChanged = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECHANGED'

/** Returns the real path of an open file. Only Linux knows it. Elsewhere it is the path that the file has after the opening. */
const realPathOf = (fd: number, path: string): string =>
  process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path)

/** Returns the path by which a child process enters an open folder. Only Linux has one that no other process can change. */
export const entryOf = (fd: number, path: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${fd}` : path
