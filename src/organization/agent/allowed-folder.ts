import { realpath } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { findCompany } from '../company/queries.ts'
import type { AgentRow } from './agent.ts'

/** Returns the agent's own folder. Its runs work there if nothing else is configured. */
export const ownFolder = (ctx: Pick<Context, 'config'>, agentId: string) =>
  path.join(ctx.config.dataDir, 'agents', agentId)

/** The destination of a path that an agent set, after following all symbolic links. */
export interface Destination {
  path: string
  /** `never`: inside the server's data directory, which even the board cannot allow. */
  access: 'allowed' | 'not_allowed' | 'never'
}

/**
 * Decides whether the server may open or enter a path that an agent set. It may
 * in the agent's own folder, in the folders that the board allowed for the
 * company or for the agent's next run, and in `folders`. A path that does not
 * exist is judged like one that does, so that a refusal reveals nothing.
 *
 * @param folders further folders that the board allowed, such as the workspaces of a project
 */
export async function resolveAgentPath(
  ctx: Context,
  agent: AgentRow,
  place: string,
  folders: readonly string[] = [],
): Promise<Destination> {
  const [real, own, dataDir] = await Promise.all([place, ownFolder(ctx, agent.id), ctx.config.dataDir].map(realPath))
  if (isInside(own!, real!)) return { path: real!, access: 'allowed' }
  if (isInside(dataDir!, real!)) return { path: real!, access: 'never' }
  const company = findCompany(ctx.db, { id: agent.company_id })!
  const allowed = [...JSON.parse(company.allowed_folders), ...JSON.parse(agent.allowed_once), ...folders] as string[]
  const isAllowed = (await Promise.all(allowed.map(realPath))).some((folder) => isInside(folder, real!))
  return { path: real!, access: isAllowed ? 'allowed' : 'not_allowed' }
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** Follows the symbolic links of the part of a path that exists. */
async function realPath(place: string): Promise<string> {
  try {
    return await realpath(place)
  } catch {
    const parent = path.dirname(place)
    return parent === place ? place : path.join(await realPath(parent), path.basename(place))
  }
}
