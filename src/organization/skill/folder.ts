import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { unprocessable } from '../../platform/errors.ts'
import { badFile, type Files, LIMITS, tooMuch } from './paths.ts'
import { ownersOf } from './read-skills.ts'

/** How many entries of a folder are looked at before the import is refused. */
const MAX_ENTRIES = 20_000

/** What a source holds: the files of its skills, and what was left out of them. */
export interface Gathered {
  files: Files
  warnings: string[]
}

/**
 * Reads the skills' files of a folder of this machine. Symbolic links are left
 * out, so nothing outside of the folder is ever read; other files than the
 * skills' are not opened.
 *
 * @param folder absolute
 * @throws AppError 422
 */
export async function readFolder(folder: string): Promise<Gathered> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) throw unprocessable('path', 'there is no such folder')
  const { paths, links } = await walk(root)
  const { owned } = ownersOf(paths)
  const ownedLinks = links.filter((link) => ownersOf([...owned.keys(), link]).owned.has(link))
  const files = new Map<string, Uint8Array>()
  let total = 0
  for (const file of owned.keys()) {
    const content = await readPlainFile(root, file)
    total += content.length
    if (total > LIMITS.totalBytes || files.size >= LIMITS.files) throw tooMuch('has too many or too large files')
    files.set(file, content)
  }
  return { files, warnings: ownedLinks.map((link) => `${link} is a symbolic link and was left out.`) }
}

/** Lists the plain files and the links below a folder, without entering `.git`, `node_modules` or a link. */
async function walk(root: string): Promise<{ paths: string[]; links: string[] }> {
  const found = { paths: [] as string[], links: [] as string[] }
  const open = ['']
  let count = 0
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch((error) => {
      throw unprocessable('path', `${folder === '' ? 'it' : folder} cannot be read as a folder (${error.code})`)
    })
    count += entries.length
    if (count > MAX_ENTRIES)
      throw tooMuch(`has more than ${MAX_ENTRIES} files around the skills; name their own folder`)
    for (const entry of entries) {
      const at = folder + entry.name
      if (entry.isSymbolicLink()) found.links.push(at)
      else if (entry.isFile()) found.paths.push(at)
      else if (entry.isDirectory() && !SKIPPED.has(entry.name)) open.push(`${at}/`)
    }
  }
  found.paths.sort()
  return found
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** Reads a file that is still a plain one; never waits on a pipe that took its place. */
async function readPlainFile(root: string, file: string): Promise<Uint8Array> {
  const handle = await open(
    path.join(root, file),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error) => {
    throw badFile(file, `cannot be read (${error.code})`)
  })
  try {
    const { size } = await handle.stat()
    if (size > LIMITS.fileBytes) throw badFile(file, `is larger than ${LIMITS.fileBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
