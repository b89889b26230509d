import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'

/** Returns the size of a file or of the files in a folder, in bytes. Links are not followed. 0 if it does not exist. */
export async function sizeOnDisk(place: string): Promise<number> {
  try {
    const found = await lstat(place)
    if (!found.isDirectory()) return found.size
    const sizes = await Promise.all((await readdir(place)).map((name) => sizeOnDisk(path.join(place, name))))
    return sizes.reduce((total, size) => total + size, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
