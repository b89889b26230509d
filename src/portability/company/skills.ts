import type { Caller } from '../../access/caller/caller.ts'
import { storeSkill } from '../../organization/skill/import.ts'
import { takeInventory, trustLevelOf } from '../../organization/skill/inventory.ts'
import { findSkill, listSkillFiles, listSkills, listSkillsBySlug } from '../../organization/skill/queries.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { chooseUrlKey } from '../../platform/url-key.ts'
import type { PackageSkill } from '../read/package.ts'

/** A skill of a company, as packages see it. */
export interface CompanySkill extends PackageSkill {
  id: string
  /** The key that agents' `desired_skills` refer to. */
  key: string
}

/** Lists the skills of a company that an export may contain, with their files. */
export const listCompanySkills = (db: Db, companyId: string): CompanySkill[] =>
  listSkillNames(db, companyId).map((skill) => ({
    ...skill,
    files: new Map(listSkillFiles(db, skill.id).map(({ path, content }) => [path, content])),
  }))

/** Lists the skills of a company, except those that every company has, by the slugs that a package gives them. */
export function listSkillNames(db: Db, companyId: string): Omit<CompanySkill, 'files'>[] {
  const taken = new Set<string>()
  return listSkills(db, { companyId })
    .filter((row) => row.source_type !== 'bundled')
    .map(({ id, key, name, description, digest, ...row }) => {
      // Skills of two repositories may have the same slug: a package has one namespace.
      const slug = chooseUrlKey(row.slug, 'skill', (slug) => taken.has(slug))
      taken.add(slug)
      return { id, key, slug, name, description, digest }
    })
}

/** Gives a company a skill with all its files, under a slug that is free in it. */
export function createSkill(ctx: Context, caller: Caller, companyId: string, skill: PackageSkill) {
  const inventory = takeInventory(skill.files)
  return storeSkill(ctx, caller, companyId, {
    ...skill,
    inventory,
    key: skill.slug,
    source: { type: 'inline', namespace: null, locator: null, ref: null },
    trustLevel: trustLevelOf(inventory),
  })
}

/** The key of a skill that a company has: by its id, or by a slug that only one has. */
export function skillKeyOf(ctx: Context, companyId: string, ref: { id?: string | null; slug: string }) {
  if (ref.id) return findSkill(ctx.db, { id: ref.id })?.key
  const found = listSkillsBySlug(ctx.db, { companyId, slug: ref.slug })
  return found.length === 1 ? found[0]!.key : undefined
}
