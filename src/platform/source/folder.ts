import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { unprocessable } from '../errors.ts'
import { collectFiles, type FilesRead, fileTooLarge, type SelectFiles, selectAll, tooManyFiles } from './files.ts'
import type { FileRules } from './paths.ts'

/** The maximum number of files and folders in a folder that is read. */
const MAX_ENTRIES = 20_000

const IGNORED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * Reads the selected files of a local folder. The reader never follows a
 * symbolic link, so it cannot read files outside of the folder.
 *
 * @throws AppError 422
 */
export async function readFolder(
  folder: string,
  rules: FileRules,
  select: SelectFiles = selectAll,
): Promise<FilesRead> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) throw unprocessable('path', 'there is no such folder')
  const { paths, others } = await listFolder(root, rules)
  const selected = await select([...paths, ...others.map(({ path }) => path)])
  const unusable = others.filter(({ path }) => selected.has(path))
  if (rules.symbolicLinks === 'refuse' && unusable[0]) {
    throw rules.refuse('is a symbolic link or not a plain file', unusable[0].path)
  }
  const collected = collectFiles(rules)
  for (const file of paths.filter((file) => selected.has(file))) {
    if (collected.files.size === rules.limits.files) throw tooManyFiles(rules)
    collected.add(file, await readPlainFile(root, file, rules))
  }
  return { files: collected.files, skippedLinks: unusable.filter(({ isLink }) => isLink).map(({ path }) => path) }
}

/** Lists the plain files below a folder, and apart from them the links, pipes and devices. */
async function listFolder(root: string, rules: FileRules) {
  const paths: string[] = []
  const others: { path: string; isLink: boolean }[] = []
  const folders = ['']
  let count = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch((error) => {
      throw unprocessable('path', `${folder || path.basename(root)} cannot be read as a folder (${error.code})`)
    })
    count += entries.length
    if (count > MAX_ENTRIES)
      throw rules.refuse(`is in a folder of more than ${MAX_ENTRIES} files; name a smaller folder`)
    for (const entry of entries) {
      const at = folder + entry.name
      if (entry.isFile()) paths.push(at)
      else if (!entry.isDirectory()) others.push({ path: at, isLink: entry.isSymbolicLink() })
      else if (!IGNORED_FOLDERS.has(entry.name)) folders.push(`${at}/`)
    }
  }
  return { paths: paths.sort(), others }
}

/** Reads a file. If a link or a pipe replaced the file meanwhile, the read fails instead of following or blocking. */
async function readPlainFile(root: string, file: string, rules: FileRules): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(path.join(root, file), flags).catch((error) => {
    throw rules.refuse(`cannot be read (${error.code})`, file)
  })
  try {
    if ((await handle.stat()).size > rules.limits.fileBytes) throw fileTooLarge(rules, file)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
