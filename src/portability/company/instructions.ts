import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { findAgent } from '../../organization/agent/queries.ts'
import type { Config } from '../../platform/config.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'

const FILE = 'AGENTS.md'

/** Returns an agent's own folder, the default working directory of its runs. */
const folderOf = (config: Config, agentId: string) => path.join(config.dataDir, 'agents', agentId)

export const instructionsFileOf = (config: Config, agentId: string) => path.join(folderOf(config, agentId), FILE)

/** The instructions of an import, before its transaction ends. */
export interface WrittenInstructions {
  /** Confirms the files after the commit of the rows. */
  keep(): Promise<void>
  /** Removes the files after a rollback of the rows. */
  remove(): Promise<void>
}

/**
 * Writes the instructions of agents to disk, each into the agent's own folder,
 * before the commit of the rows. Every agent therefore has its instructions.
 * First it writes a note that lists the folders. If the import is killed, the
 * next start uses the note to remove them.
 */
export async function writeInstructions(
  config: Config,
  texts: ReadonlyMap<string, string>,
): Promise<WrittenInstructions> {
  const agentIds = [...texts.keys()]
  const note = path.join(notesOf(config), `${uuid()}.json`)
  // If the removal fails, the remaining note is harmless: its agents have rows.
  const keep = () => rm(note, { force: true }).catch(() => {})
  const remove = async () => {
    for (const id of agentIds) await rm(folderOf(config, id), { recursive: true, force: true })
    await keep()
  }
  if (agentIds.length === 0) return { keep, remove }
  try {
    await mkdir(notesOf(config), { recursive: true, mode: 0o700 })
    await writeFile(note, JSON.stringify(agentIds), { mode: 0o600, flush: true })
    await Promise.all(
      [...texts].map(async ([agentId, text]) => {
        await mkdir(folderOf(config, agentId), { recursive: true, mode: 0o700 })
        await writeFile(instructionsFileOf(config, agentId), `${text}\n`, { mode: 0o600, flush: true })
      }),
    )
  } catch (error) {
    await remove()
    throw error
  }
  return { keep, remove }
}

/** The notes of imports that are under way. */
const notesOf = (config: Config) => path.join(config.dataDir, 'imports')

/** Removes the folders that killed imports left; for the start of a server. */
export async function removeInterruptedImports({ config, db, log }: Context): Promise<void> {
  const notes = await readdir(notesOf(config)).catch(() => [])
  for (const name of notes) {
    const note = path.join(notesOf(config), name)
    try {
      const agentIds = v.parse(v.array(v.pipe(v.string(), v.uuid())), JSON.parse(await readFile(note, 'utf8')))
      for (const id of agentIds.filter((id) => !findAgent(db, { id }))) {
        await rm(folderOf(config, id), { recursive: true, force: true })
      }
    } catch (error) {
      // A truncated note lists folders that were not created yet.
      if (!(error instanceof SyntaxError)) log.error('An interrupted import was not removed.', { error: String(error) })
    }
    await rm(note, { force: true }).catch(() => {})
  }
}

/** The largest instructions that are read, in bytes. */
const MAX_BYTES = 400_000

/**
 * Reads an agent's instructions for an export. An agent can set the path, so
 * the path may name any file on the machine. Only regular markdown files are
 * read.
 *
 * @param anywhere whether files outside the agents' own folders may be read
 * @returns undefined if there is no such file, or if it must not be exported
 */
export async function readInstructions(config: Config, file: string, anywhere: boolean): Promise<string | undefined> {
  const isOwn = path.dirname(path.dirname(file)) === path.join(config.dataDir, 'agents')
  if (!path.isAbsolute(file) || !/\.(md|markdown)$/i.test(file) || (!isOwn && !anywhere)) return undefined
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  )
  if (!handle) return undefined
  try {
    const { size } = await handle.stat()
    return size > MAX_BYTES ? undefined : await handle.readFile('utf8')
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}
