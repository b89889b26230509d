import type { Context } from '../../platform/context.ts'
import { unknownReference, unprocessable } from '../../platform/errors.ts'
import { findGoal } from '../goal/queries.ts'
import { findLabel } from '../label/queries.ts'
import { findProject, findProjectByUrlKey } from '../project/queries.ts'
import type { IssueRow } from './issue.ts'
import { findIssue, listAncestors } from './queries.ts'
import { waitsFor } from './relations.ts'

/**
 * Returns the issue that a field of a body refers to, by id or identifier.
 *
 * @throws AppError 422
 */
export function getReferredIssue(ctx: Context, companyId: string, field: string, ref: string): IssueRow {
  const issue = findIssue(ctx.db, ref)
  if (issue?.company_id !== companyId) throw unknownReference(field, 'issue')
  return issue
}

/**
 * Returns the parent that `parentId` refers to.
 *
 * @param issue undefined for a new issue
 */
export function referredParent(
  ctx: Context,
  companyId: string,
  issue: IssueRow | undefined,
  ref: string | null,
): IssueRow | undefined {
  if (ref === null) return undefined
  const parent = getReferredIssue(ctx, companyId, 'parentId', ref)
  if (issue && [parent, ...listAncestors(ctx.db, parent)].some((above) => above.id === issue.id)) {
    throw unprocessable('parentId', `${parent.identifier} is ${issue.identifier} itself or one of its descendants`)
  }
  return parent
}

/** Returns the id of the project that `projectId` refers to, by id or `urlKey`. */
export function referredProject(ctx: Context, companyId: string, ref: string | null): string | null {
  if (ref === null) return null
  const project =
    findProject(ctx.db, { id: ref }) ?? findProjectByUrlKey(ctx.db, { companyId, urlKey: ref.toLowerCase() })
  if (project?.company_id !== companyId) throw unknownReference('projectId', 'project')
  return project.id
}

/** Returns the id of the goal that `goalId` refers to. */
export function referredGoal(ctx: Context, companyId: string, id: string | null): string | null {
  if (id === null) return null
  if (findGoal(ctx.db, { id })?.company_id !== companyId) throw unknownReference('goalId', 'goal')
  return id
}

/** Returns the ids of the labels that `labelIds` refers to, each once. */
export function referredLabels(ctx: Context, companyId: string, ids: readonly string[]): string[] {
  const each = [...new Set(ids)]
  each.forEach((id, index) => {
    if (findLabel(ctx.db, { id })?.company_id !== companyId) throw unknownReference(`labelIds.${index}`, 'label')
  })
  return each
}

/**
 * Returns the ids of the issues that `blockedByIssueIds` refers to, each once.
 * An issue that waits for the issue itself is refused, because neither could
 * ever continue.
 *
 * @param issue undefined for a new issue
 */
export function referredBlockers(
  ctx: Context,
  companyId: string,
  issue: IssueRow | undefined,
  refs: readonly string[],
): string[] {
  const ids = refs.map((ref, index) => {
    const field = `blockedByIssueIds.${index}`
    const blocker = getReferredIssue(ctx, companyId, field, ref)
    if (issue && (blocker.id === issue.id || waitsFor(ctx.db, { from: blocker.id, to: issue.id }))) {
      throw unprocessable(field, `${blocker.identifier} is itself blocked by ${issue.identifier}`)
    }
    return blocker.id
  })
  return [...new Set(ids)]
}
