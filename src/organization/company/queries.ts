import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { CompanyTable } from '../../platform/database/tables.ts'
import { monthOf } from '../cost/money.ts'

const companyById = prepared((key: { id: string }) => sql.selectFrom('company').selectAll().where('id', '=', key.id))

export const findCompany = (db: Db, key: { id: string }) => db.first(companyById(key))

/** Selects companies with their spend in a month. */
const withSpend = (month: string) =>
  sql
    .selectFrom('company')
    .selectAll('company')
    .select((eb) =>
      eb.fn
        .coalesce(
          eb
            .selectFrom('cost_total')
            .select('cost_micros')
            .whereRef('company_id', '=', 'company.id')
            .where('kind', '=', 'company')
            .where('period', '=', month)
            .where('key', '=', ''),
          raw<number>`0`,
        )
        .as('spent_micros'),
    )

const companyWithSpend = prepared((key: { id: string; month: string }) => withSpend(key.month).where('id', '=', key.id))

export const findCompanyWithSpend = (db: Db, key: { id: string; now: string }) =>
  db.first(companyWithSpend({ id: key.id, month: monthOf(key.now) }))

/** @param filter.ids only these companies; null for all */
export function selectCompanies(filter: { ids: readonly string[] | null; now: string }) {
  const query = withSpend(monthOf(filter.now))
  return filter.ids ? query.where('id', 'in', filter.ids) : query
}

/** Returns the oldest companies. */
export const listCompanies = (db: Db, filter: { ids: readonly string[] | null; now: string; limit: number }) =>
  db.all(selectCompanies(filter).orderBy('id').limit(filter.limit))

const prefixesFrom = prepared((range: { stem: string; end: string }) =>
  sql
    .selectFrom('company')
    .select('issue_prefix')
    .where('issue_prefix', '>=', range.stem)
    .where('issue_prefix', '<', range.end),
)

/** Returns the issue prefixes that begin with a stem of capital letters. */
export const prefixesWith = (db: Db, stem: string): Set<string> =>
  // `[` follows `Z` in ASCII.
  new Set(db.all(prefixesFrom({ stem, end: `${stem}[` })).map((row) => row.issue_prefix))

export const insertCompany = (db: Db, row: Insertable<CompanyTable>) => db.run(sql.insertInto('company').values(row))

export const updateCompany = (db: Db, id: string, change: Updateable<CompanyTable>) =>
  db.run(sql.updateTable('company').set(change).where('id', '=', id))

const nextNumber = prepared((key: { id: string }) =>
  sql
    .updateTable('company')
    .set((eb) => ({ issue_counter: eb('issue_counter', '+', 1) }))
    .where('id', '=', key.id)
    .returning(['issue_counter', 'issue_prefix']),
)

/** Reserves the company's next issue number. A number is never used twice. */
export const takeIssueNumber = (db: Db, key: { id: string }) => db.first(nextNumber(key))!

/**
 * Deletes a company. Foreign keys cascade to the records of the company. The
 * stored responses to idempotent requests of its agents have no such key, so
 * this deletes them first.
 */
export function deleteCompanyRows(db: Db, id: string): void {
  const agents = sql.selectFrom('agent').where('company_id', '=', id)
  db.run(sql.deleteFrom('idempotency').where('caller', 'in', agents.select(raw<string>`'agent:' || id`.as('caller'))))
  db.run(sql.deleteFrom('company').where('id', '=', id))
}

/** Returns the ids of all companies that are not archived. */
export const listCompanyIds = (db: Db): string[] =>
  db.all(sql.selectFrom('company').select('id').where('status', '<>', 'archived')).map(({ id }) => id)
