import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { findSkill, findSkillFile } from './queries.ts'
import type { SkillFileRow, SkillRow } from './skill.ts'

/** Gets a skill. A skill of another company is reported like one that does not exist. */
export function getSkill(ctx: Context, caller: Caller, id: string): SkillRow {
  const skill = findSkill(ctx.db, { id })
  return requireVisible(ctx, caller, skill, 'skill', id)
}

export function getSkillFile(ctx: Context, caller: Caller, id: string, path: string): SkillFileRow {
  const file = findSkillFile(ctx.db, { skillId: getSkill(ctx, caller, id).id, path })
  if (!file) throw notFound('file', path, 'This skill')
  return file
}
