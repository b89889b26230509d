import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { SkillFileTable, SkillTable } from '../../platform/database/tables.ts'
import type { SkillRow } from './skill.ts'

export const findSkill = (db: Db, key: { id: string }): SkillRow | undefined =>
  db.first(sql.selectFrom('skill').selectAll().where('id', '=', key.id))

export const findSkillByKey = (db: Db, of: { companyId: string; key: string }): SkillRow | undefined =>
  db.first(sql.selectFrom('skill').selectAll().where('company_id', '=', of.companyId).where('key', '=', of.key))

export const listSkillsBySlug = (db: Db, of: { companyId: string; slug: string }): SkillRow[] =>
  db.all(
    sql
      .selectFrom('skill')
      .selectAll()
      .where('company_id', '=', of.companyId)
      .where('slug', '=', of.slug)
      .orderBy('key'),
  )

export const selectSkills = (of: { companyId: string }) =>
  sql.selectFrom('skill').selectAll().where('company_id', '=', of.companyId)

/** Returns all skills of a company, by key. */
export const listSkills = (db: Db, of: { companyId: string }): SkillRow[] => db.all(selectSkills(of).orderBy('key'))

/** Lists the skills of a company that refer to a text in another repository, by key. */
export const listReferences = (db: Db, of: { companyId: string }): SkillRow[] =>
  db.all(
    sql
      .selectFrom('skill')
      .selectAll()
      .where('company_id', '=', of.companyId)
      .where('is_reference', '=', 1)
      .orderBy('key'),
  )

/** Lists the companies that have the bundled skill of this key with the content of another version. */
export const findBundledOutdated = (db: Db, skill: { key: string; digest: string }) =>
  db.all(
    sql
      .selectFrom('skill')
      .select('company_id')
      .where('source_type', '=', raw.lit('bundled'))
      .where('key', '=', skill.key)
      .where('digest', '<>', skill.digest),
  )

export const insertSkill = (db: Db, row: Insertable<SkillTable>): SkillRow =>
  db.first(sql.insertInto('skill').values(row).returningAll())!

export const updateSkill = (db: Db, id: string, change: Updateable<SkillTable>): SkillRow =>
  db.first(sql.updateTable('skill').set(change).where('id', '=', id).returningAll())!

export const deleteSkillRow = (db: Db, id: string) => db.run(sql.deleteFrom('skill').where('id', '=', id))

export const insertSkillFile = (db: Db, row: Insertable<SkillFileTable>) =>
  db.run(sql.insertInto('skill_file').values(row))

export const deleteSkillFiles = (db: Db, skillId: string) =>
  db.run(sql.deleteFrom('skill_file').where('skill_id', '=', skillId))

export const findSkillFile = (db: Db, of: { skillId: string; path: string }) =>
  db.first(sql.selectFrom('skill_file').selectAll().where('skill_id', '=', of.skillId).where('path', '=', of.path))

/** The files of a skill by path, with their content. */
export const listSkillFiles = (db: Db, skillId: string) =>
  db.all(sql.selectFrom('skill_file').selectAll().where('skill_id', '=', skillId).orderBy('path'))

/** Lists the agents of a company that have a skill, oldest first, without terminated agents. */
export const listAgentsWithSkill = (db: Db, of: { companyId: string; key: string }) =>
  db.all(
    sql
      .selectFrom('agent')
      .selectAll()
      .where('company_id', '=', of.companyId)
      .where('status', '<>', 'terminated')
      .where(raw<boolean>`exists (select 1 from json_each(agent.desired_skills) where json_each.value = ${of.key})`)
      .orderBy('id'),
  )
