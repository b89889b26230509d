import { randomUUID } from 'node:crypto'
import { constants, renameSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { SourceFiles } from '../../platform/source/files.ts'

/**
 * Writes a folder that contains exactly these files. It writes a temporary
 * folder next to the target and renames it, so that no reader sees a part of
 * the files. A symbolic link at the target is moved aside and never followed.
 * Concurrent calls for the same folder have the same result.
 *
 * @param instance marks the temporary folders of this server
 * @returns whether anything had to be written
 */
export async function materialise(folder: string, files: SourceFiles, instance: string): Promise<boolean> {
  const parent = path.dirname(folder)
  await makeRealFolders(parent)
  if (await holds(folder, files)) return false
  const fresh = path.join(parent, `${temporaryPrefix(instance)}${randomUUID()}`)
  try {
    await write(fresh, files)
    while (!(await moveTo(folder, fresh))) {
      // A concurrent call may have written the same files. Anything else at the target is removed.
      if (await holds(folder, files)) return true
      await discard(folder, instance)
    }
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return true
}

/**
 * Removes the other folders next to a folder.
 *
 * @param isFree returns whether no run needs the other folders; called in the same turn as each rename
 */
export async function removeOthers(folder: string, instance: string, isFree: () => boolean): Promise<void> {
  const parent = path.dirname(folder)
  for (const name of await readdir(parent)) {
    if (name === path.basename(folder) || name.startsWith(temporaryPrefix(instance))) continue
    if (!isFree()) return
    await discard(path.join(parent, name), instance)
  }
}

const temporaryPrefix = (instance: string) => `.${instance}-`

/** Renames the temporary folder to the target. Returns false if the target exists. */
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

/** Renames an entry and then removes it. A symbolic link itself is removed, not its target. */
async function discard(target: string, instance: string): Promise<void> {
  const trash = path.join(path.dirname(target), `${temporaryPrefix(instance)}${randomUUID()}`)
  try {
    renameSync(target, trash)
  } catch (error) {
    // A concurrent call removed it first.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(trash, { recursive: true, force: true })
}

/** Creates the last three folders of a path (`skills/<company>/<agent>`). It replaces anything there that is not a folder. */
async function makeRealFolders(folder: string): Promise<void> {
  for (const at of [path.dirname(path.dirname(folder)), path.dirname(folder), folder]) {
    const found = await lstat(at).catch(() => undefined)
    if (found && !found.isDirectory()) await rm(at, { force: true })
    if (!found?.isDirectory()) await mkdir(at, { recursive: true, mode: 0o700 })
  }
}

/** Returns whether a folder contains exactly these files, byte for byte. */
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

/** Lists the files below a folder. Returns undefined if it contains a link, a device or an empty folder. */
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

/** Returns whether a file starts with `#!`. Such a file becomes executable. */
const isScript = (content: Uint8Array) => content[0] === 0x23 && content[1] === 0x21
