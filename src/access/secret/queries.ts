import type { Insertable } from 'kysely'
import { secretNames } from '../../adapter/secrets.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { SecretTable } from '../../platform/database/tables.ts'
import { redact } from '../redaction/redact.ts'
import type { SecretRow, SecretUse } from './secret.ts'

export const findSecret = (db: Db, key: { id: string }): SecretRow | undefined =>
  db.first(sql.selectFrom('secret').selectAll().where('id', '=', key.id))

export const findSecretsByName = (db: Db, of: { companyId: string; names: readonly string[] }): SecretRow[] =>
  db.all(sql.selectFrom('secret').selectAll().where('company_id', '=', of.companyId).where('name', 'in', of.names))

export const selectSecrets = (of: { companyId: string }) =>
  sql.selectFrom('secret').selectAll().where('company_id', '=', of.companyId)

export const insertSecret = (db: Db, row: Insertable<SecretTable>): SecretRow =>
  db.first(sql.insertInto('secret').values(row).returningAll())!

export const resealSecret = (db: Db, change: { id: string; sealed: string; at: string }): SecretRow =>
  db.first(
    sql
      .updateTable('secret')
      .set((eb) => ({ sealed: change.sealed, version: eb('version', '+', 1), updated_at: change.at }))
      .where('id', '=', change.id)
      .returningAll(),
  )!

export const deleteSecretRow = (db: Db, id: string) => db.run(sql.deleteFrom('secret').where('id', '=', id))

/** Lists the agents (except terminated ones) and the projects whose configuration refers to the secret. */
export function listSecretUses(db: Db, of: { companyId: string; name: string }): SecretUse[] {
  const agents = db.all(
    sql
      .selectFrom('agent')
      .select(['id', 'name', 'adapter_config'])
      .where('company_id', '=', of.companyId)
      .where('status', '<>', 'terminated')
      .where('adapter_config', 'like', MENTIONS_SECRET)
      .orderBy('id'),
  )
  const projects = db.all(
    sql
      .selectFrom('project')
      .select(['id', 'name', 'env'])
      .where('company_id', '=', of.companyId)
      .where('env', 'like', MENTIONS_SECRET)
      .orderBy('id'),
  )
  return [
    ...agents
      .filter((agent) => secretNames(redact(JSON.parse(agent.adapter_config))).includes(of.name))
      .map(({ id, name }): SecretUse => ({ type: 'agent', id, name })),
    ...projects
      .filter((project) => secretNames(redact({ env: JSON.parse(project.env) })).includes(of.name))
      .map(({ id, name }): SecretUse => ({ type: 'project', id, name })),
  ]
}

/** Excludes rows without references before their JSON is parsed. */
const MENTIONS_SECRET = '%"$secret"%'
