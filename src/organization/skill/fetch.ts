import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import { recheckCompanyAccess } from '../../access/board/fresh-role.ts'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { fetchReferences } from './fetch-references.ts'
import { digestOf, takeInventory, trustLevelOf } from './inventory.ts'
import { findSkill, listReferences, listSkillFiles } from './queries.ts'
import { Skill, toSkill } from './skill.ts'
import { replaceSkillFiles } from './store.ts'

export const FetchedSkills = v.strictObject({
  fetched: v.array(Skill),
  failed: v.pipe(
    v.array(v.strictObject({ id: field.id, key: v.string(), reason: v.string() })),
    v.description('The skills whose text could not be downloaded. They stay references.'),
  ),
})
export type FetchedSkills = v.InferOutput<typeof FetchedSkills>

/** Downloads the texts of all skills of a company that are references. */
export async function fetchSkills(ctx: Context, caller: Caller, companyId: string): Promise<FetchedSkills> {
  const references = listReferences(ctx.db, { companyId }).map((row) => ({
    ...row,
    files: new Map(listSkillFiles(ctx.db, row.id).map(({ path, content }) => [path, content])),
  }))
  const { fetched, failed } = await fetchReferences(references, globalThis.fetch)
  return ctx.writeLong(function* (ctx) {
    recheckCompanyAccess(ctx, caller, companyId)
    const rows: Skill[] = []
    for (const { skill, files } of fetched) {
      yield
      // If a skill was changed or deleted during the download, the fetched text is discarded.
      if (findSkill(ctx.db, { id: skill.id })?.digest !== skill.digest) continue
      const inventory = takeInventory(files)
      const row = replaceSkillFiles(ctx, skill.id, {
        ...{ files, inventory, trustLevel: trustLevelOf(inventory), digest: digestOf(inventory) },
      })
      recordActivity(ctx, caller, {
        companyId,
        action: 'skill.updated',
        entity: { type: 'skill', id: row.id },
        details: { key: row.key, trustLevel: row.trust_level, sourceType: row.source_type, digest: row.digest },
      })
      rows.push(toSkill(row))
    }
    return { fetched: rows, failed: failed.map(({ skill: { id, key }, reason }) => ({ id, key, reason })) }
  })
}
