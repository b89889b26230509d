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
 * Imports all skills of a source into a company in one transaction. Updates a
 * skill if its key already exists.
 */
export async function importSkills(
  ctx: Context,
  caller: Caller,
  companyId: string,
  body: SkillImport,
): Promise<SkillImportResult> {
  const { skills, warnings } = await readSkillSource(ctx, caller, body)
  return ctx.writeLong(function* (ctx) {
    recheckCompanyAccess(ctx, caller, companyId)
    const imported: SkillImportResult['imported'] = []
    for (const skill of skills) {
      imported.push(storeSkill(ctx, caller, companyId, skill))
      yield
    }
    return { imported, warnings }
  })
}

/** Stores a skill in the current transaction, and records an activity if it is new or changed. */
export function storeSkill(ctx: Context, caller: Caller, companyId: string, skill: ReadSkill) {
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
}
