import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { AssetRow } from './asset.ts'

/** Whether an asset is neither attached to an issue nor the logo of a company. */
const IS_UNUSED = raw<boolean>`not exists (select 1 from attachment where asset_id = asset.id)
  and not exists (select 1 from company where company.id = asset.company_id and logo_asset_id = asset.id)`

/** Lists uploads from before a time that are neither attached nor a logo, in the order of their ids. */
export const listUnusedAssets = (db: Db, of: { before: string; after: string; limit: number }): string[] =>
  db
    .all(
      sql
        .selectFrom('asset')
        .select('id')
        .where('id', '>', of.after)
        .where('created_at', '<', of.before)
        .where(IS_UNUSED)
        .orderBy('id')
        .limit(of.limit),
    )
    .map(({ id }) => id)

/** Deletes the assets among some that are neither attached nor a logo, and returns their rows. */
export const deleteUnusedAssets = (db: Db, of: { ids: readonly string[] }): AssetRow[] =>
  db.all(sql.deleteFrom('asset').where('id', 'in', of.ids).where(IS_UNUSED).returningAll())

/** The texts in which people and agents can link to an asset. */
const TEXTS = [
  ['approval', 'payload'],
  ['approval_comment', 'body'],
  ['comment', 'body'],
  ['company', 'description'],
  ['document_revision', 'body'],
  ['goal', 'description'],
  ['interaction', 'asked'],
  ['interaction', 'answer'],
  ['issue', 'description'],
  ['project', 'description'],
  ['routine', 'description'],
] as const

/** Finds the assets among some to which a text links. Reads all texts, so it runs in the reader's thread. */
export const linkedAssetsJob: ReadJob<readonly string[], string[]> = {
  name: 'asset.linked',
  run: (db, ids) => {
    const linked = TEXTS.flatMap(([table, column]) =>
      db.all(
        raw<{ id: string }>`select distinct wanted.value as id
          from ${raw.table(table)} as texts, json_each(${JSON.stringify(ids)}) as wanted
          where instr(texts.${raw.ref(column)}, '/api/assets/') > 0
            and instr(texts.${raw.ref(column)}, '/api/assets/' || wanted.value) > 0`.compile(sql),
      ),
    )
    return [...new Set(linked.map(({ id }) => id))]
  },
}
