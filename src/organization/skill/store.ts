import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { deleteSkillFiles, findSkillByKey, insertSkill, insertSkillFile, updateSkill } from './queries.ts'
import type { ReadSkill } from './read-skills.ts'
import { referenceOf } from './reference.ts'
import type { SkillRow } from './skill.ts'

export const OUTCOMES = ['created', 'updated', 'unchanged'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Creates a skill, or replaces the skill with the same key. The caller records the activity. */
export function putSkill(ctx: Context, companyId: string, skill: ReadSkill): { row: SkillRow; outcome: Outcome } {
  const known = findSkillByKey(ctx.db, { companyId, key: skill.key })
  const values = {
    slug: skill.slug,
    name: skill.name,
    description: skill.description,
    source_type: skill.source.type,
    source_locator: skill.source.locator,
    source_ref: skill.source.ref,
    trust_level: skill.trustLevel,
    file_inventory: JSON.stringify(skill.inventory),
    digest: skill.digest,
    is_reference: referenceFlag(skill.files),
  }
  if (known && isSame(known, values)) return { row: known, outcome: 'unchanged' }
  const row = known
    ? updateSkill(ctx.db, known.id, { ...values, updated_at: ctx.now })
    : insertSkill(ctx.db, {
        ...values,
        id: uuid(),
        company_id: companyId,
        key: skill.key,
        created_at: ctx.now,
        updated_at: ctx.now,
      })
  if (known?.digest !== skill.digest) writeFiles(ctx, row.id, skill.files)
  return { row, outcome: known ? 'updated' : 'created' }
}

/** Replaces the files of a skill. The caller records the activity. */
export function replaceSkillFiles(
  ctx: Context,
  id: string,
  { files, inventory, trustLevel, digest }: Pick<ReadSkill, 'files' | 'inventory' | 'trustLevel' | 'digest'>,
): SkillRow {
  writeFiles(ctx, id, files)
  return updateSkill(ctx.db, id, {
    trust_level: trustLevel,
    file_inventory: JSON.stringify(inventory),
    digest,
    is_reference: referenceFlag(files),
    updated_at: ctx.now,
  })
}

const referenceFlag = (files: ReadSkill['files']): 0 | 1 => (referenceOf(files) ? 1 : 0)

function writeFiles(ctx: Context, id: string, files: ReadSkill['files']): void {
  deleteSkillFiles(ctx.db, id)
  for (const [path, content] of files) insertSkillFile(ctx.db, { skill_id: id, path, content })
}

const isSame = (row: SkillRow, values: Partial<SkillRow>) =>
  Object.entries(values).every(([column, value]) => row[column as keyof SkillRow] === value)
