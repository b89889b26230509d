import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { difference, fieldNames } from '../../platform/difference.ts'
import { AppError, forbidden, notFound, unprocessable } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { ProjectRow } from './project.ts'
import {
  clearPrimary,
  deleteWorkspaceRow,
  findWorkspace,
  insertWorkspace,
  listWorkspaces,
  updateWorkspaceRow,
} from './queries.ts'
import { type NewWorkspace, type WorkspaceChange, type WorkspaceRow, workspaceNameOf } from './workspace.ts'

export function getWorkspace(ctx: Context, project: ProjectRow, id: string): WorkspaceRow {
  const workspace = findWorkspace(ctx.db, { projectId: project.id, id })
  if (!workspace) throw notFound('workspace', id)
  return workspace
}

/** Adds a workspace to a project. It becomes primary if it is the first one or requests it. */
export function addWorkspace(ctx: Context, caller: Caller, project: ProjectRow, want: NewWorkspace): WorkspaceRow {
  assertMaySetCommands(caller, want)
  const isFirst = listWorkspaces(ctx.db, { projectId: project.id }).length === 0
  const isPrimary = isFirst || want.isPrimary === true
  if (isPrimary) clearPrimary(ctx.db, { projectId: project.id, at: ctx.now })
  const workspace = insertWorkspace(ctx.db, {
    id: uuid(),
    company_id: project.company_id,
    project_id: project.id,
    name: want.name ?? workspaceNameOf(want),
    cwd: want.cwd ?? null,
    cwd_approved: caller.type === 'board' ? 1 : 0,
    repo_url: want.repoUrl ?? null,
    repo_ref: want.repoRef ?? null,
    is_primary: isPrimary ? 1 : 0,
    isolation: want.isolation ?? 'none',
    setup_command: want.setupCommand ?? null,
    cleanup_command: want.cleanupCommand ?? null,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'workspace.created', workspace, { cwd: workspace.cwd, repoUrl: workspace.repo_url })
  return workspace
}

/** Changes a workspace. If it becomes primary, the previous primary one no longer is. */
export function updateWorkspace(
  ctx: Context,
  caller: Caller,
  workspace: WorkspaceRow,
  want: WorkspaceChange,
): WorkspaceRow {
  assertMaySetCommands(caller, want)
  const change = difference(workspace, {
    name: want.name,
    cwd: want.cwd,
    repo_url: want.repoUrl,
    repo_ref: want.repoRef,
    isolation: want.isolation,
    setup_command: want.setupCommand,
    cleanup_command: want.cleanupCommand,
    is_primary: want.isPrimary === undefined ? undefined : want.isPrimary ? 1 : 0,
  })
  if (!change) return workspace
  const after = { ...workspace, ...change }
  if (after.cwd === null && after.repo_url === null) {
    throw new AppError('semantic', 'A workspace needs cwd or repoUrl. This change would remove both.')
  }
  if (change.is_primary === 0) throw unprocessable('isPrimary', 'make another workspace primary instead')
  if (change.is_primary === 1) clearPrimary(ctx.db, { projectId: workspace.project_id, at: ctx.now })
  record(ctx, caller, 'workspace.updated', workspace, {
    changed: fieldNames(change),
    cwd: after.cwd,
    repoUrl: after.repo_url,
  })
  const isApproved = change.cwd === undefined ? undefined : caller.type === 'board' ? (1 as const) : (0 as const)
  return updateWorkspaceRow(ctx.db, workspace.id, {
    ...change,
    ...(isApproved !== undefined && { cwd_approved: isApproved }),
    updated_at: ctx.now,
  })
}

/** Deletes a workspace and returns it. If it was primary, the oldest remaining one becomes primary. */
export function deleteWorkspace(ctx: Context, caller: Caller, workspace: WorkspaceRow): WorkspaceRow {
  deleteWorkspaceRow(ctx.db, workspace.id)
  const oldest = listWorkspaces(ctx.db, { projectId: workspace.project_id })[0]
  if (workspace.is_primary === 1 && oldest) {
    updateWorkspaceRow(ctx.db, oldest.id, { is_primary: 1, updated_at: ctx.now })
  }
  record(ctx, caller, 'workspace.deleted', workspace, { name: workspace.name })
  return workspace
}

/** The server executes these commands on the user's machine. */
function assertMaySetCommands(caller: Caller, want: Pick<WorkspaceChange, 'setupCommand' | 'cleanupCommand'>): void {
  if (caller.type !== 'agent' || (!want.setupCommand && !want.cleanupCommand)) return
  throw forbidden('Only the board may set the commands of a workspace. Omit `setupCommand` and `cleanupCommand`.')
}

const record = (
  ctx: Context,
  caller: Caller,
  action: Action,
  workspace: WorkspaceRow,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, {
    companyId: workspace.company_id,
    action,
    entity: { type: 'workspace', id: workspace.id },
    details: { projectId: workspace.project_id, ...details },
  })
