import type { Selectable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { FreezeTable } from '../../platform/database/tables.ts'

export type FreezeRow = Selectable<FreezeTable>

const freeze = sql.selectFrom('freeze').selectAll().compile()

/** Returns the freeze in force, or undefined. */
export const findFreeze = (db: Db): FreezeRow | undefined => db.first(freeze)

export const insertFreeze = (db: Db, row: Omit<FreezeRow, 'id'>) =>
  db.run(sql.insertInto('freeze').values({ id: 1, ...row }))

export const deleteFreeze = (db: Db) => db.run(sql.deleteFrom('freeze'))

const company = sql.selectFrom('company').select('id').compile()

export const listCompanyIds = (db: Db): string[] => db.all(company).map(({ id }) => id)

/**
 * Counts the live runs and the waiting wakes.
 *
 * @param companyIds only in these companies; null for all
 */
export function countLoad(db: Db, companyIds: ReadonlySet<string> | null) {
  let runs = sql
    .selectFrom('run')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('finished_at', 'is', null)
  let wakes = sql
    .selectFrom('wake')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('status', '=', raw.lit('waiting'))
  if (companyIds) {
    runs = runs.where('company_id', 'in', [...companyIds])
    wakes = wakes.where('company_id', 'in', [...companyIds])
  }
  return { liveRuns: db.first(runs)!.n, waitingWakes: db.first(wakes)!.n }
}
