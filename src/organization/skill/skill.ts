import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { SkillFileTable, SkillTable } from '../../platform/database/tables.ts'
import { exactTextOf } from '../../platform/source/files.ts'
import { FILE_KINDS, TRUST_LEVELS } from './inventory.ts'

export type SkillRow = Selectable<SkillTable>
export type SkillFileRow = Selectable<SkillFileTable>

const SOURCE_TYPES = ['bundled', 'inline', 'local_path', 'github'] as const

const FileEntry = v.strictObject({
  path: v.string(),
  kind: v.picklist(FILE_KINDS),
  bytes: field.integer,
  sha256: v.string(),
})

/** The public form of a skill. */
export const Skill = v.strictObject({
  id: field.id,
  companyId: field.id,
  key: v.string(),
  slug: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  sourceType: v.picklist(SOURCE_TYPES),
  sourceLocator: v.nullable(v.string()),
  sourceRef: v.nullable(v.string()),
  trustLevel: v.picklist(TRUST_LEVELS),
  fileInventory: v.array(FileEntry),
  isReference: v.pipe(
    v.boolean(),
    v.description(
      'Whether the text of the skill is in another repository and not here. POST .../skills/fetch downloads it.',
    ),
  ),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Skill = v.InferOutput<typeof Skill>

export const SkillDetail = v.strictObject({
  ...Skill.entries,
  usedByAgents: v.array(v.strictObject({ id: field.id, name: v.string() })),
})

/** A file of a skill, as text or in base64. */
export const SkillFile = v.strictObject({
  skillId: field.id,
  path: v.string(),
  bytes: field.integer,
  encoding: v.picklist(['utf8', 'base64']),
  content: v.string(),
})

export const toSkill = (row: SkillRow): Skill => ({
  id: row.id,
  companyId: row.company_id,
  key: row.key,
  slug: row.slug,
  name: row.name,
  description: row.description,
  sourceType: row.source_type,
  sourceLocator: row.source_locator,
  sourceRef: row.source_ref,
  trustLevel: row.trust_level,
  fileInventory: JSON.parse(row.file_inventory),
  isReference: row.is_reference === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export function toSkillFile(row: SkillFileRow): v.InferOutput<typeof SkillFile> {
  const text = exactTextOf(row.content)
  return {
    skillId: row.skill_id,
    path: row.path,
    bytes: row.content.length,
    encoding: text === undefined ? 'base64' : 'utf8',
    content: text ?? Buffer.from(row.content).toString('base64'),
  }
}
