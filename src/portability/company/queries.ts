import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { PackagePartTable } from '../../platform/database/tables.ts'
import { ISSUE_STATUSES, isTerminal } from '../../work/issue/lifecycle.ts'
import type { ProjectRow } from '../../work/project/project.ts'

export type PartRow = Selectable<PackagePartTable>

const of = (companyId: string) => ({ companyId })

const agentNames = prepared((of: { companyId: string }) =>
  sql.selectFrom('agent').select(['id', 'name', 'url_key', 'status', 'role']).where('company_id', '=', of.companyId),
)

/** Includes terminated agents, because their slugs remain reserved. */
export const listAgentNames = (db: Db, companyId: string) => db.all(agentNames(of(companyId)))

const projects = prepared((of: { companyId: string }) =>
  sql.selectFrom('project').selectAll().where('company_id', '=', of.companyId).orderBy('id'),
)

export const listAllProjects = (db: Db, companyId: string): ProjectRow[] => db.all(projects(of(companyId)))

const openStatuses = ISSUE_STATUSES.filter((status) => !isTerminal(status))

/** Lists the issues that are not done or cancelled, by their numbers. */
export const listOpenIssues = (db: Db, companyId: string) =>
  db.all(
    sql
      .selectFrom('issue')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('status', 'in', openStatuses)
      .orderBy('issue_number'),
  )

export const countFinishedIssues = (db: Db, companyId: string): number =>
  db.first(
    sql
      .selectFrom('issue')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('company_id', '=', companyId)
      .where('status', 'not in', openStatuses),
  )!.n

const parts = prepared((of: { companyId: string }) =>
  sql.selectFrom('package_part').selectAll().where('company_id', '=', of.companyId).orderBy('path'),
)

export const listParts = (db: Db, companyId: string): PartRow[] => db.all(parts(of(companyId)))

export const insertPart = (db: Db, row: Insertable<PackagePartTable>) =>
  db.run(sql.insertInto('package_part').values(row))
