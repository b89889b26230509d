import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { isInside, realPath } from '../../platform/real-path.ts'
import { findCompany } from '../company/queries.ts'
import type { AgentRow } from './agent.ts'

/** Returns the agent's own folder. It is the default working directory of its runs. */
export const ownFolder = (ctx: Pick<Context, 'config'>, agentId: string) =>
  path.join(ctx.config.dataDir, 'agents', agentId)

/** The destination of a path that an agent set, after following all symbolic links. */
export interface Destination {
  path: string
  /** `never`: inside the server's data directory, which even the board cannot allow. */
  access: 'allowed' | 'not_allowed' | 'never'
}

/**
 * Decides whether the server may open or enter a path that an agent set.
 * Allowed are the agent's own folder, the folders that the board allowed for
 * the company or for the agent's next run, and `folders`. The rules are the same
 * for a path that does not exist, so an error does not reveal whether it exists.
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
  const allowed = [...boardFolders(ctx, agent), ...folders]
  const isAllowed = (await Promise.all(allowed.map(realPath))).some((folder) => isInside(folder, real!))
  return { path: real!, access: isAllowed ? 'allowed' : 'not_allowed' }
}

/** Returns the folders that the board allowed for the company, or for the agent's next run. */
export const boardFolders = (ctx: Context, agent: AgentRow): string[] => [
  ...JSON.parse(findCompany(ctx.db, { id: agent.company_id })!.allowed_folders),
  ...JSON.parse(agent.allowed_once),
]
