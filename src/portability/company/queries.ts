import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
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

/** What the open issues of a company have, and no export contains. */
export const countIssueParts = (db: Db, companyId: string) =>
  db.first(
    raw<{ comments: number; documents: number; attachments: number; ofPeople: number }>`
    with open_issue as (
      select id, seq, assignee_user_id from issue
      where company_id = ${companyId} and status in (${raw.join(openStatuses.map((status) => raw.lit(status)))})
    )
    select (select count(*) from comment where issue_seq in (select seq from open_issue)) as comments,
      (select count(*) from document where issue_id in (select id from open_issue)) as documents,
      (select count(*) from attachment where issue_id in (select id from open_issue)) as attachments,
      (select count(*) from open_issue where assignee_user_id is not null) as ofPeople`.compile(sql),
  )!

const parts = prepared((of: { companyId: string }) =>
  sql.selectFrom('package_part').selectAll().where('company_id', '=', of.companyId).orderBy('path'),
)

export const listParts = (db: Db, companyId: string): PartRow[] => db.all(parts(of(companyId)))

export const insertPart = (db: Db, row: Insertable<PackagePartTable>) =>
  db.run(sql.insertInto('package_part').values(row))

/** The number of rows that an export of a company may contain, and the size of their texts in bytes. */
export const sizeOfCompany = (db: Db, companyId: string): { rows: number; bytes: number } =>
  db.first(
    raw<{ rows: number; bytes: number }>`
    with part (bytes) as (
      select octet_length(capabilities) from agent where company_id = ${companyId}
      union all select octet_length(description) from goal where company_id = ${companyId}
      union all select octet_length(description) from project where company_id = ${companyId}
      union all select octet_length(description) from routine where company_id = ${companyId}
      union all select octet_length(content) from package_part where company_id = ${companyId}
      union all select octet_length(skill_file.content) from skill join skill_file on skill_file.skill_id = skill.id
        where skill.company_id = ${companyId} and skill.source_type <> 'bundled'
      union all select octet_length(description) from issue
        where company_id = ${companyId} and status not in ('done', 'cancelled')
    )
    select count(*) as rows, coalesce(sum(bytes), 0) as bytes from part`.compile(sql),
  )!
