import type { Context } from '../context.ts'
import type { Caller } from '../http/caller.ts'
import type { PackageSkill } from './package.ts'

/** A skill of a company, as packages see it. */
export interface CompanySkill extends PackageSkill {
  id: string
  /** What agents' `desired_skills` hold. */
  key: string
}

/** Whether companies can hold skills. While they cannot, a plan says that it leaves them out. */
export const HAS_SKILLS: boolean = false

/** The skills of a company that may leave it, by slug. */
export function listCompanySkills(_ctx: Context, _companyId: string): CompanySkill[] {
  return []
}

/** Gives a company a skill with all its files, under a slug that is free in it. */
export function createSkill(
  _ctx: Context,
  _caller: Caller,
  _companyId: string,
  _skill: PackageSkill,
): { id: string; key: string } {
  throw new Error('Companies cannot hold skills yet.')
}
