import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { badPackage, collectFiles, LIMITS, type PackageFiles, tooLarge, tooManyFiles } from './files.ts'

/** Folders that are never of a package. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * Reads the files of a folder of this machine. A symbolic link is refused: it
 * could bring anything of the machine into the package.
 *
 * @throws AppError 422
 */
export async function readFolder(root: string): Promise<PackageFiles> {
  const collected = collectFiles()
  const folders = ['']
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch((error) => {
      throw badPackage(`The folder ${path.join(root, folder)} cannot be read (${error.code}).`)
    })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = folder + entry.name
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) folders.push(`${at}/`)
      } else if (entry.isFile()) {
        if (collected.files.size === LIMITS.files) throw tooManyFiles(LIMITS.files)
        collected.add(at, await readPlainFile(root, at))
      } else throw badPackage('is a symbolic link or no plain file, and a package may not have any', at)
    }
  }
  return collected.files
}

async function readPlainFile(root: string, at: string): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path.join(root, at), flags).catch((error) => {
    throw badPackage(`cannot be read (${error.code})`, at)
  })
  try {
    if ((await file.stat()).size > LIMITS.fileBytes) throw tooLarge(at, LIMITS.fileBytes)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
