import path from 'node:path'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { boardFolders, ownFolder, resolveAgentPath } from '../../organization/agent/allowed-folder.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import { isInside, realPath } from '../../platform/real-path.ts'

/**
 * Decides whether a run may have made the link by which a path of the board led
 * to a file or folder: the path goes through a folder that runs write, and ends
 * outside of it. Such a link is accepted only if it leads to a folder that the
 * board allowed.
 *
 * @param opened the real path to which the path led
 * @param folders further folders that the board allowed, such as the workspaces of a project
 */
export async function isLinkOfRun(
  ctx: Context,
  agent: AgentRow,
  { wanted, opened }: { wanted: string; opened: string },
  folders: readonly string[],
): Promise<boolean> {
  if (opened === wanted) return false
  const written = [...listRunFolders(ctx.db), ...boardFolders(ctx, agent), ...folders, ownFolder(ctx, agent.id)]
  const parents = await realPaths(parentsOf(wanted))
  const passed = (await realPaths(written)).filter((folder) => parents.some((parent) => isInside(folder, parent)))
  if (passed.length === 0 || passed.some((folder) => isInside(folder, opened))) return false
  return (await resolveAgentPath(ctx, agent, opened, folders)).access !== 'allowed'
}

const realPaths = (places: readonly string[]) => Promise.all([...new Set(places)].map(realPath))

/** Returns the folders that contain a path, the nearest first. */
function parentsOf(place: string): string[] {
  const parent = path.dirname(place)
  return parent === place ? [] : [parent, ...parentsOf(parent)]
}

/** Lists the working directories of all agents and workspaces, in which runs write. */
const listRunFolders = (db: Db): string[] =>
  db
    .all(
      sql
        .selectFrom('agent')
        .select(raw<string | null>`adapter_config ->> '$.cwd'`.as('cwd'))
        .union(sql.selectFrom('workspace').select('cwd')),
    )
    .flatMap(({ cwd }) => (typeof cwd === 'string' && path.isAbsolute(cwd) ? [cwd] : []))
