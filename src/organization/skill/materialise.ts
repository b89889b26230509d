import { randomUUID } from 'node:crypto'
import { constants, renameSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { SourceFiles } from '../../platform/source/files.ts'

/**
 * Makes a folder hold exactly these files, and nothing else. It is built
 * beside its place and moved there whole, so nobody sees half of it, and a
 * link that was put in its way is moved aside, never followed. Two at once for
 * the same folder come to the same.
 *
 * @param instance marks what this server has under way beside the folder
 * @returns whether anything had to be done
 */
export async function materialise(folder: string, files: SourceFiles, instance: string): Promise<boolean> {
  const parent = path.dirname(folder)
  await makeRealFolders(parent)
  if (await holds(folder, files)) return false
  const fresh = path.join(parent, `${underWay(instance)}${randomUUID()}`)
  try {
    await write(fresh, files)
    while (!(await moveTo(folder, fresh))) {
      // Another sync of the same files may have been first; whatever else is there goes.
      if (await holds(folder, files)) return true
      await discard(folder, instance)
    }
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return true
}

/**
 * Removes what lies beside a folder.
 *
 * @param isFree asked in the same turn as each move: whether nobody needs the others
 */
export async function removeOthers(folder: string, instance: string, isFree: () => boolean): Promise<void> {
  const parent = path.dirname(folder)
  for (const name of await readdir(parent)) {
    if (name === path.basename(folder) || name.startsWith(underWay(instance))) continue
    if (!isFree()) return
    await discard(path.join(parent, name), instance)
  }
}

const underWay = (instance: string) => `.${instance}-`

/** Moves a folder to its place; false when something is there. */
async function moveTo(folder: string, fresh: string): Promise<boolean> {
  try {
    await rename(fresh, folder)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return false
    throw error
  }
}

/** Moves something aside, at once, and then removes it; a link itself, not what it points to. */
async function discard(target: string, instance: string): Promise<void> {
  const trash = path.join(path.dirname(target), `${underWay(instance)}${randomUUID()}`)
  try {
    renameSync(target, trash)
  } catch (error) {
    // Another sync of the same agent took it first.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(trash, { recursive: true, force: true })
}

/** Makes the last three folders of a path (`skills/<company>/<agent>`), in place of whatever else has a name of theirs. */
async function makeRealFolders(folder: string): Promise<void> {
  for (const at of [path.dirname(path.dirname(folder)), path.dirname(folder), folder]) {
    const found = await lstat(at).catch(() => undefined)
    if (found && !found.isDirectory()) await rm(at, { force: true })
    if (!found?.isDirectory()) await mkdir(at, { recursive: true, mode: 0o700 })
  }
}

/** Whether a folder holds these files, byte for byte, and nothing beside them. */
async function holds(folder: string, files: SourceFiles): Promise<boolean> {
  try {
    if (!(await lstat(folder)).isDirectory()) return false
    const found = await listPlainFiles(folder)
    if (found === undefined || found.length !== files.size) return false
    for (const file of found) {
      const expected = files.get(file)
      if (!expected || !(await isContent(path.join(folder, file), expected))) return false
    }
    return true
  } catch {
    return false
  }
}

/** The files below a folder; undefined when there is anything but files and folders with files in them. */
async function listPlainFiles(folder: string, prefix = ''): Promise<string[] | undefined> {
  const files: string[] = []
  const entries = await readdir(path.join(folder, prefix), { withFileTypes: true })
  if (entries.length === 0 && prefix !== '') return undefined
  for (const entry of entries) {
    if (entry.isFile()) files.push(prefix + entry.name)
    else if (!entry.isDirectory()) return undefined
    else {
      const below = await listPlainFiles(folder, `${prefix}${entry.name}/`)
      if (!below) return undefined
      files.push(...below)
    }
  }
  return files
}

async function isContent(file: string, expected: Uint8Array): Promise<boolean> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await handle.stat()
    return size === expected.length && (await handle.readFile()).equals(expected)
  } finally {
    await handle.close()
  }
}

async function write(folder: string, files: SourceFiles): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  for (const [file, content] of files) {
    const target = path.join(folder, file)
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
    const handle = await open(target, 'wx', isScript(content) ? 0o700 : 0o600)
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
  }
}

/** A file that says what runs it may be run. */
const isScript = (content: Uint8Array) => content[0] === 0x23 && content[1] === 0x21
