import type { Context } from '../context.ts'
import type { Caller } from '../http/caller.ts'
import type { PackageRoutine } from './package.ts'

/** A routine as it is to be created: what it refers to by id. It begins paused, since an import starts nothing. */
export interface NewImportedRoutine extends Omit<PackageRoutine, 'slug' | 'project' | 'assignee'> {
  projectId: string | null
  assigneeAgentId: string | null
}

/** Whether companies can hold routines. While they cannot, a plan says that it leaves them out. */
export const HAS_ROUTINES: boolean = false

/** The routines of a company, in the order of their creation; projects and assignees by id. */
export function listCompanyRoutines(_ctx: Context, _companyId: string): (NewImportedRoutine & { id: string })[] {
  return []
}

/** Creates a routine, paused. @returns its id */
export function createRoutine(
  _ctx: Context,
  _caller: Caller,
  _companyId: string,
  _routine: NewImportedRoutine,
): string {
  throw new Error('Companies cannot hold routines yet.')
}
