import { constants } from 'node:fs'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../platform/config.ts'

const FILE = 'AGENTS.md'

/** An agent's own folder. Its runs begin there unless they are told otherwise. */
const folderOf = (config: Config, agentId: string) => path.join(config.dataDir, 'agents', agentId)

export const instructionsFileOf = (config: Config, agentId: string) => path.join(folderOf(config, agentId), FILE)

/**
 * Puts the instructions of agents on disk, each into its own folder; before
 * their rows are there, so that no agent is ever without. What was written is
 * removed again when one cannot be, and by `removeInstructions` when the rows
 * do not come to stand.
 */
export async function writeInstructions(config: Config, texts: ReadonlyMap<string, string>): Promise<void> {
  try {
    await Promise.all(
      [...texts].map(async ([agentId, text]) => {
        await mkdir(folderOf(config, agentId), { recursive: true, mode: 0o700 })
        await writeFile(instructionsFileOf(config, agentId), `${text}\n`, { mode: 0o600, flush: true })
      }),
    )
  } catch (error) {
    await removeInstructions(config, texts.keys())
    throw error
  }
}

export async function removeInstructions(config: Config, agentIds: Iterable<string>): Promise<void> {
  for (const id of agentIds) await rm(folderOf(config, id), { recursive: true, force: true })
}

/** The largest instructions that are read, in bytes. */
const MAX_BYTES = 400_000

/**
 * Reads an agent's instructions for an export. A path that an agent's
 * configuration names may lead anywhere, and an agent sets its own: so only a
 * plain markdown file is read, and for an agent only one of the agents' own
 * folders. Undefined when there is none, or none that may leave.
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
