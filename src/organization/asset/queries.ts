import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { AssetTable } from '../../platform/database/tables.ts'
import type { AssetRow } from './asset.ts'

export const findAsset = (db: Db, key: { id: string }): AssetRow | undefined =>
  db.first(sql.selectFrom('asset').selectAll().where('id', '=', key.id))

export const insertAsset = (db: Db, row: Insertable<AssetTable>): AssetRow =>
  db.first(sql.insertInto('asset').values(row).returningAll())!

export const deleteAssetRow = (db: Db, id: string) => db.run(sql.deleteFrom('asset').where('id', '=', id))
