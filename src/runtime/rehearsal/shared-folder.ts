import type { AgentRow } from '../../organization/agent/agent.ts'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'

/** An agent whose runs work in a folder, and the number of its concurrent runs. */
interface FolderUse {
  folder: string
  agent_id: string
  name: string
  runs: number
}

/**
 * The folders in which agents work: their configured `cwd`, or otherwise the
 * workspaces of the projects whose open issues are assigned to them. A workspace
 * with a worktree for each issue is not shared.
 */
const USES = raw<FolderUse>`(
  select json_extract(adapter_config, '$.cwd') as folder, agent.id as agent_id, agent.name,
    coalesce(json_extract(runtime_config, '$.heartbeat.maxConcurrentRuns'), 1) as runs
  from agent where status <> 'terminated' and json_extract(adapter_config, '$.cwd') is not null
  union
  select workspace.cwd, agent.id, agent.name,
    coalesce(json_extract(runtime_config, '$.heartbeat.maxConcurrentRuns'), 1)
  from workspace
  join issue on issue.project_id = workspace.project_id
    and issue.status in ('todo', 'in_progress', 'in_review', 'blocked')
  join agent on agent.id = issue.assignee_agent_id
    and agent.status <> 'terminated' and json_extract(adapter_config, '$.cwd') is null
  where workspace.is_primary = 1 and workspace.isolation = 'none' and workspace.cwd is not null
)`

/** A folder in which several runs can work at the same time. */
export interface SharedFolder {
  folder: string
  agents: { id: string; name: string; runs: number }[]
}

/** Lists the folders in which several runs can work at the same time, and overwrite each other's changes. */
export function listSharedFolders(db: Db, of: { folder?: string } = {}): SharedFolder[] {
  let query = sql.selectFrom(USES.as('use')).selectAll().orderBy('folder').orderBy('name')
  if (of.folder !== undefined) query = query.where('folder', '=', of.folder)
  return [...Map.groupBy(db.all(query), (use) => use.folder)]
    .map(([folder, uses]) => ({
      folder,
      agents: uses.map(({ agent_id, name, runs }) => ({ id: agent_id, name, runs })),
    }))
    .filter(({ agents }) => agents.reduce((sum, agent) => sum + agent.runs, 0) > 1)
}

/** The advice about a shared folder. */
export const SHARED_FOLDER_HINT =
  'Set isolation: worktree on the workspace of the project, or give each agent its own cwd.'

/** Returns a note that other runs can work in the folder of an agent's run at the same time, or an empty list if none can. */
export function sharedFolderNotes(db: Db, agent: Pick<AgentRow, 'id'>, folder: string | undefined): string[] {
  const shared = folder === undefined ? undefined : listSharedFolders(db, { folder })[0]
  const own = shared?.agents.find(({ id }) => id === agent.id)
  if (!shared || !own) return []
  const others = shared.agents.filter(({ id }) => id !== agent.id).map(({ name }) => name)
  const who = [...(own.runs > 1 ? [`up to ${own.runs} runs of this agent`] : []), ...others].join(', ')
  return [
    `Several runs can work in ${shared.folder} at the same time and overwrite each other's changes: ${who}. ${SHARED_FOLDER_HINT}`,
  ]
}
