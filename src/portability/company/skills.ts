import type { Caller } from '../../access/caller/caller.ts'
import { storeSkills } from '../../organization/skill/import.ts'
import { digestOf, takeInventory, trustLevelOf } from '../../organization/skill/inventory.ts'
import { findSkill, listSkillFiles, listSkills, listSkillsBySlug } from '../../organization/skill/queries.ts'
import type { Context } from '../../platform/context.ts'
import { chooseUrlKey } from '../../platform/url-key.ts'
import type { PackageSkill } from '../read/package.ts'

/** A skill of a company, as packages see it. */
export interface CompanySkill extends PackageSkill {
  id: string
  /** What agents' `desired_skills` hold. */
  key: string
  digest: string
}

/** The skills of a company that may leave it, by slug; those that every company has are not among them. */
export function listCompanySkills(ctx: Context, companyId: string): CompanySkill[] {
  const taken = new Set<string>()
  return listSkills(ctx.db, { companyId })
    .filter((row) => row.source_type !== 'bundled')
    .map((row) => {
      // Skills of two repositories may have the same slug: a package has one namespace.
      const slug = chooseUrlKey(row.slug, 'skill', (slug) => taken.has(slug))
      taken.add(slug)
      const files = new Map(listSkillFiles(ctx.db, row.id).map(({ path, content }) => [path, content]))
      const { id, key, name, description, digest } = row
      return { id, key, slug, name, description, digest, files }
    })
}

export const digestOfSkill = (skill: PackageSkill): string => digestOf(takeInventory(skill.files))

/** Gives a company a skill with all its files, under a slug that is free in it. */
export function createSkill(ctx: Context, caller: Caller, companyId: string, skill: PackageSkill) {
  const { slug, name, description, files } = skill
  const inventory = takeInventory(files)
  const [stored] = storeSkills(ctx, caller, companyId, [
    {
      ...{ slug, name, description, files, inventory },
      key: slug,
      source: { type: 'inline', namespace: null, locator: null, ref: null },
      trustLevel: trustLevelOf(inventory),
      digest: digestOf(inventory),
    },
  ])
  return stored!
}

/** The key of a skill that a company has: by its id, or by a slug that only one has. */
export function skillKeyOf(ctx: Context, companyId: string, ref: { id?: string | null; slug: string }) {
  if (ref.id) return findSkill(ctx.db, { id: ref.id })?.key
  const found = listSkillsBySlug(ctx.db, { companyId, slug: ref.slug })
  return found.length === 1 ? found[0]!.key : undefined
}
