import path from 'node:path'
import type { Adapter } from '../../adapter/adapter.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { unapprovedPaths } from '../../organization/agent/approved-config.ts'
import type { Context } from '../../platform/context.ts'
import { sandboxModeOf } from '../isolation/isolate.ts'
import type { Refuse } from '../not-startable.ts'
import { RUN_FOLDER, WORK_FOLDER } from '../remote/wire.ts'
import { findPrimaryWorkspace } from './prepare-queries.ts'

/** Where a run is planned that executes on another machine. */
export interface RemotePlace {
  /** The name of the placement. */
  name: string
}

/** The places of the files that travel with a run. */
export const REMOTE_SKILLS = path.join(RUN_FOLDER, 'skills')
export const REMOTE_INSTRUCTIONS = path.join(RUN_FOLDER, 'instructions', 'AGENTS.md')

/** A repository to clone into the working directory. */
export interface Clone {
  url: string
  ref: string | null
}

/** The working directory of a run on another machine. */
export interface RemoteCwd {
  cwd: string
  clone: Clone | null
  /** Whether it is the workspace of the issue's project. */
  isWorkspace: boolean
}

/** No program is started by these: `ext::` and options are. */
const REPOSITORY = /^(https?|ssh|git|file):\/\/\S+$|^[\w.-]+@[\w.-]+:\S+$/

/**
 * Chooses the working directory on another machine: the configured one, else a
 * clone of the repository or the directory of the project's workspace, else a
 * folder of the agent. The clone belongs to the issue, so the next run on the
 * issue in the same placement continues in it.
 */
export function chooseRemoteCwd(
  ctx: Context,
  {
    agent,
    config,
    issue,
    refuse,
  }: {
    agent: AgentRow
    config: Record<string, unknown>
    issue: { id: string; project_id: string | null } | null
    refuse: Refuse
  },
): RemoteCwd {
  const notAllowed = (key: string, folder: string) =>
    refuse(
      'folder_not_allowed',
      `${key}: an agent set ${folder}. The board has to set it before a run in a placement uses it.`,
    )
  if (typeof config.cwd === 'string') {
    if (unapprovedPaths(agent).includes('cwd')) notAllowed('adapterConfig.cwd', config.cwd)
    return { cwd: config.cwd, clone: null, isWorkspace: false }
  }
  const workspace = issue?.project_id ? findPrimaryWorkspace(ctx.db, { projectId: issue.project_id }) : undefined
  if (workspace?.repo_url && REPOSITORY.test(workspace.repo_url)) {
    const cwd = path.join(WORK_FOLDER, 'workspaces', workspace.id, issue!.id)
    return { cwd, clone: { url: workspace.repo_url, ref: workspace.repo_ref }, isWorkspace: true }
  }
  if (workspace?.cwd) {
    if (workspace.cwd_approved !== 1) notAllowed('workspace', workspace.cwd)
    return { cwd: workspace.cwd, clone: null, isWorkspace: true }
  }
  return { cwd: path.join(WORK_FOLDER, 'agents', agent.id), clone: null, isWorkspace: false }
}

/** Refuses the sandbox of the server's machine on another one, unless its engine isolates runs. */
export function refuseSandbox(
  ctx: Context,
  place: RemotePlace,
  {
    agent,
    adapter,
    config,
    refuse,
  }: { agent: AgentRow; adapter: Adapter; config: Record<string, unknown>; refuse: Refuse },
): void {
  if (sandboxModeOf(ctx, { agent, adapter, config }) === 'off') return
  refuse(
    'sandbox_unavailable',
    `The placement ${place.name} has no sandbox. Set adapterConfig.sandbox to off for this agent, or run it on this machine.`,
  )
}
