import type { Caller } from '../../access/caller/caller.ts'
import type { Context, ReadContext } from '../../platform/context.ts'
import { findLabelByName, listLabels } from '../../work/label/queries.ts'
import { addRoutine } from '../../work/routine/change.ts'
import { findLabelIds, listRoutines } from '../../work/routine/queries.ts'
import type { PackageRoutine } from '../read/package.ts'

/** A routine to create, with references as ids. It is paused at first, because an import starts no work. */
export interface NewImportedRoutine
  extends Omit<PackageRoutine, 'key' | 'slug' | 'project' | 'goal' | 'parent' | 'assignee' | 'summary' | 'kept'> {
  projectId: string | null
  goalId: string | null
  parentId: string | null
  assigneeAgentId: string | null
}

/** Lists the routines of a company in the order of their creation, with references as ids. */
export function listCompanyRoutines(ctx: ReadContext, companyId: string): (NewImportedRoutine & { id: string })[] {
  const rows = listRoutines(ctx.db, { companyId })
  const labelIdsOf = findLabelIds(
    ctx.db,
    rows.map((row) => row.id),
  )
  const labels = listLabels(ctx.db, { companyId })
  const names = new Map(labels.map((label) => [label.id, label.name]))
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    description: row.description,
    priority: row.priority,
    labels: labelIdsOf(row.id)
      .flatMap((id) => names.get(id) ?? [])
      .sort(),
    cron: row.cron,
    timeZone: row.time_zone,
    intervalSec: row.interval_sec,
    overlap: row.overlap,
    projectId: row.project_id,
    goalId: row.goal_id,
    parentId: row.parent_id,
    assigneeAgentId: row.assignee_agent_id,
  }))
}

/**
 * Creates a paused routine.
 *
 * @returns its id
 */
export function createRoutine(
  ctx: Context,
  caller: Caller,
  companyId: string,
  { labels, ...routine }: NewImportedRoutine,
): string {
  const labelIds = labels.flatMap((name) => findLabelByName(ctx.db, { companyId, name })?.id ?? [])
  return addRoutine(ctx, caller, companyId, { ...routine, labelIds, status: 'paused' }).id
}
