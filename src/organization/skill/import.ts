import { recordActivity } from '../../access/activity/record.ts'
import { recheckCompanyAccess } from '../../access/board/fresh-role.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { SkillImport, SkillImportResult } from './import-body.ts'
import type { ReadSkill } from './read-skills.ts'
import { readSkillSource } from './read-source.ts'
import { toSkill } from './skill.ts'
import { putSkill } from './store.ts'

/**
 * Imports all skills of a source into a company, or none. A skill whose key
 * exists already is updated.
 */
export async function importSkills(
  ctx: Context,
  caller: Caller,
  companyId: string,
  body: SkillImport,
): Promise<SkillImportResult> {
  const { skills, warnings } = await readSkillSource(caller, body)
  return ctx.write(() => {
    recheckCompanyAccess(ctx, caller, companyId)
    return { imported: storeSkills(ctx, caller, companyId, skills), warnings }
  })
}

/** Stores skills in the current transaction, and records an activity for each new or changed one. */
export const storeSkills = (ctx: Context, caller: Caller, companyId: string, skills: readonly ReadSkill[]) =>
  skills.map((skill) => {
    const { row, outcome } = putSkill(ctx, companyId, skill)
    if (outcome !== 'unchanged') {
      recordActivity(ctx, caller, {
        companyId,
        action: outcome === 'created' ? 'skill.imported' : 'skill.updated',
        entity: { type: 'skill', id: row.id },
        details: { key: row.key, trustLevel: row.trust_level, sourceType: row.source_type, digest: row.digest },
      })
    }
    return { ...toSkill(row), outcome }
  })
