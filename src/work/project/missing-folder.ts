import { stat } from 'node:fs/promises'
import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { Project } from './project.ts'
import { Workspace } from './workspace.ts'

const warnings = v.pipe(
  v.array(v.string()),
  v.description('What a person should check, such as a folder that does not exist. Empty for agents.'),
)

export const ProjectWithWarnings = v.strictObject({ ...Project.entries, warnings })
export const WorkspaceWithWarnings = v.strictObject({ ...Workspace.entries, warnings })

/**
 * Warns about a folder that does not exist on this machine. Agents receive no
 * warning: they would learn which paths exist.
 */
export async function folderWarnings(caller: Caller, cwd: string | null | undefined): Promise<string[]> {
  if (!cwd || caller.type !== 'board') return []
  const found = await stat(cwd).catch(() => undefined)
  if (found?.isDirectory()) return []
  return [
    `The folder ${cwd} ${found ? 'is a file' : 'does not exist'} on the machine of the server. Runs on its issues cannot start there.`,
  ]
}
