import { realpath } from 'node:fs/promises'
import path from 'node:path'

/** Returns whether a path is a folder itself or inside it. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** Follows the symbolic links of the part of a path that exists. */
export async function realPath(place: string): Promise<string> {
  try {
    return await realpath(place)
  } catch {
    const parent = path.dirname(place)
    return parent === place ? place : path.join(await realPath(parent), path.basename(place))
  }
}
