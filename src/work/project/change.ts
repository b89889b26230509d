import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import { requireRole } from '../../access/board/fresh-role.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import { refusePlaceholders, restore } from '../../access/redaction/redact.ts'
import { hasSubordinates } from '../../organization/agent/credentials.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import { assertPlacementExists } from '../../organization/placement/resolve.ts'
import type { Context } from '../../platform/context.ts'
import { difference, fieldNames } from '../../platform/difference.ts'
import { AppError, forbidden, unknownReference, unprocessable } from '../../platform/errors.ts'
import { chooseUrlKey } from '../../platform/url-key.ts'
import { uuid } from '../../platform/uuid.ts'
import { findGoalsByIds } from '../goal/queries.ts'
import { openEnv, sealEnv } from './env.ts'
import type { NewProject, Project, ProjectChange, ProjectRow } from './project.ts'
import {
  countProjectUses,
  deleteProjectRow,
  findProject,
  findProjectByUrlKey,
  insertProject,
  listProjectGoalIds,
  replaceProjectGoals,
  updateProjectRow,
  withParts,
} from './queries.ts'
import { addWorkspace } from './workspaces.ts'

/**
 * Gets a project by its id, or by its `urlKey` and a company, which defaults to
 * the agent's own. A project of another company has the same error as a missing
 * one.
 */
export function getProject(ctx: Context, caller: Caller, ref: string, companyId?: string): ProjectRow {
  const company = companyId ?? (caller.type === 'agent' ? caller.companyId : undefined)
  const project =
    findProject(ctx.db, { id: ref }) ??
    (company === undefined ? undefined : findProjectByUrlKey(ctx.db, { companyId: company, urlKey: ref.toLowerCase() }))
  return requireVisible(ctx, caller, project, 'project', ref)
}

/**
 * Creates a project, and its first workspace if the request has one.
 *
 * @param urlKey one that is free in the company. Default: derived from the
 *   name.
 */
export function createProject(
  ctx: Context,
  caller: Caller,
  companyId: string,
  want: NewProject,
  urlKey?: string,
): Project {
  if (want.workspace && !maySetWorkspaces(ctx, caller)) {
    throw forbidden('Only the board, the CEO agent and manager agents may set a workspace. Omit `workspace`.')
  }
  if (want.env) assertMaySetEnv(ctx, caller, companyId)
  assertMayPlace(ctx, caller, companyId, want.placement)
  if (want.workspace) requireRole(ctx, caller, companyId, 'admin')
  const goalIds = wantedGoalIds(ctx, companyId, want, []) ?? []
  const id = uuid()
  const project = insertProject(ctx.db, {
    id,
    company_id: companyId,
    name: want.name,
    url_key:
      urlKey ??
      chooseUrlKey(want.name, 'project', (urlKey) => findProjectByUrlKey(ctx.db, { companyId, urlKey }) !== undefined),
    description: want.description ?? null,
    ...(want.status && { status: want.status }),
    lead_agent_id: want.leadAgentId ? getReferredAgent(ctx, companyId, 'leadAgentId', want.leadAgentId).id : null,
    target_date: want.targetDate ?? null,
    placement: want.placement ?? null,
    ...(want.env && { env: sealEnv(ctx, { id, company_id: companyId }, envAfter({}, want.env)) }),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  replaceProjectGoals(ctx.db, project.id, goalIds)
  record(ctx, caller, 'project.created', project, { name: project.name })
  if (want.workspace) addWorkspace(ctx, caller, project, want.workspace)
  return withParts(ctx.db, [project])[0]!
}

/** Changes a project. A new name does not change its `urlKey`, so that links remain valid. */
export function updateProject(ctx: Context, caller: Caller, project: ProjectRow, want: ProjectChange): Project {
  const { id, company_id } = project
  if (want.env) assertMaySetEnv(ctx, caller, company_id)
  assertMayPlace(ctx, caller, company_id, want.placement)
  const lead = want.leadAgentId && getReferredAgent(ctx, company_id, 'leadAgentId', want.leadAgentId).id
  const change = difference(project, {
    name: want.name,
    description: want.description,
    status: want.status,
    lead_agent_id: lead,
    target_date: want.targetDate,
    placement: want.placement,
    env: want.env && changedEnv(ctx, project, want.env),
    archived_at: want.archivedAt && new Date(want.archivedAt).toISOString(),
  })
  const before = listProjectGoalIds(ctx.db, { projectId: id })
  const goalIds = wantedGoalIds(ctx, company_id, want, before)
  const newGoals = goalIds && goalIds.join() !== before.join()
  if (!change && !newGoals) return withParts(ctx.db, [project])[0]!
  if (newGoals) replaceProjectGoals(ctx.db, id, goalIds)
  const changed = [...fieldNames(change ?? {}), ...(newGoals ? ['goalIds'] : [])]
  const updated = updateProjectRow(ctx.db, id, { ...change, updated_at: ctx.now })
  record(ctx, caller, 'project.updated', updated, { name: updated.name, changed })
  return withParts(ctx.db, [updated])[0]!
}

/** Deletes a project without references, with its workspaces. Returns the deleted project. */
export function deleteProject(ctx: Context, caller: Caller, project: ProjectRow): Project {
  const uses = countProjectUses(ctx.db, project.id)
  const used = Object.entries(uses).filter(([, count]) => count !== null && count > 0)
  if (used.length > 0) {
    const what = used.map(([kind, count]) => `${count} ${kind}`).join(', ')
    throw new AppError('conflict', `This project is in use (${what}). Archive it instead: set archivedAt.`, uses)
  }
  const whole = withParts(ctx.db, [project])[0]!
  record(ctx, caller, 'project.deleted', project, { name: project.name })
  deleteProjectRow(ctx.db, project.id)
  return whole
}

/**
 * Requires the permission to set the environment of a project. An environment
 * can change the behavior of the programs of a run. Therefore the rules are the
 * same as for the environment of an agent.
 */
function assertMaySetEnv(ctx: Context, caller: Caller, companyId: string): void {
  requireRole(ctx, caller, companyId, 'admin')
  if (caller.type === 'agent') throw forbidden("Only the board may set a project's env. Omit `env`.")
}

/** Requires the permission to choose where runs execute. */
function assertMayPlace(ctx: Context, caller: Caller, companyId: string, placement: string | null | undefined): void {
  if (placement === undefined) return
  requireRole(ctx, caller, companyId, 'admin')
  if (caller.type === 'agent') throw forbidden("Only the board may set a project's placement. Leave `placement` out.")
  assertPlacementExists(ctx, 'placement', placement)
}

/**
 * Returns the environment to store; undefined if it is unchanged. Encrypting an
 * equal one again would look like a change.
 */
function changedEnv(ctx: Context, project: ProjectRow, env: Record<string, unknown>): string | undefined {
  const before = openEnv(ctx, project)
  const after = envAfter(before, env)
  return JSON.stringify(after) === JSON.stringify(before) ? undefined : sealEnv(ctx, project, after)
}

/** Returns the environment after a change. If the client sends a redacted value, the stored value does not change. */
function envAfter(before: Record<string, unknown>, env: Record<string, unknown>): Record<string, unknown> {
  const after = restore({ env }, { env: before }).env as Record<string, unknown>
  refusePlaceholders(after, 'env')
  return after
}

/**
 * Whether a caller may set workspaces. A workspace decides where programs run
 * on the user's machine, so not every agent may.
 */
const maySetWorkspaces = (ctx: Context, caller: Caller) =>
  caller.type !== 'agent' || caller.role === 'ceo' || hasSubordinates(ctx.db, { agentId: caller.agentId })

/**
 * Returns the goals of `goalId` and `goalIds`, in order; undefined if neither
 * is given. `goalId` alone replaces the first goal.
 */
function wantedGoalIds(
  ctx: Context,
  companyId: string,
  want: { goalId?: string | null | undefined; goalIds?: string[] | undefined },
  before: readonly string[],
): string[] | undefined {
  if (want.goalId === undefined && want.goalIds === undefined) return undefined
  const rest = want.goalIds ?? before.slice(1)
  const ids = [...new Set(want.goalId ? [want.goalId, ...rest] : rest)]
  if (want.goalId === null && want.goalIds && want.goalIds.length > 0) {
    throw unprocessable('goalId', 'must not be null if goalIds has entries, because it is the first of them')
  }
  const known = new Set(
    findGoalsByIds(ctx.db, ids)
      .filter((goal) => goal.company_id === companyId)
      .map((goal) => goal.id),
  )
  const unknown = ids.find((id) => !known.has(id))
  if (unknown !== undefined) throw unknownReference(unknown === want.goalId ? 'goalId' : 'goalIds', 'goal')
  return ids
}

const record = (ctx: Context, caller: Caller, action: Action, project: ProjectRow, details: Record<string, unknown>) =>
  recordActivity(ctx, caller, {
    companyId: project.company_id,
    action,
    entity: { type: 'project', id: project.id },
    details,
  })
