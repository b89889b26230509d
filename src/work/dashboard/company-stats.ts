import type { ExpressionBuilder } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Db } from '../../platform/database/db.ts'
import { literals, raw, sql } from '../../platform/database/sql.ts'
import type { Tables } from '../../platform/database/tables.ts'
import { OPEN_STATUSES } from '../issue/lifecycle.ts'

/** The number of records of each kind in a company. */
export const CompanyStats = v.strictObject({
  agentCount: v.pipe(field.integer, v.description('Agents that are not terminated.')),
  issueCount: field.integer,
  openIssueCount: v.pipe(field.integer, v.description('Issues that are neither done nor cancelled.')),
  projectCount: field.integer,
  goalCount: field.integer,
  pendingApprovalCount: field.integer,
})

/**
 * Counts the records of companies, by company id.
 *
 * @param ids the companies; null for all
 */
export function countByCompany(db: Db, ids: readonly string[] | null) {
  let query = sql.selectFrom('company').select((eb) => [
    'id',
    eb
      .selectFrom('agent')
      .select((e) => e.fn.countAll<number>().as('n'))
      .whereRef('company_id', '=', 'company.id')
      .where('status', '<>', 'terminated')
      .$asScalar()
      .$notNull()
      .as('agentCount'),
    issuesOf(eb).as('issueCount'),
    issuesOf(eb).where('status', 'in', literals(OPEN_STATUSES)).as('openIssueCount'),
    eb
      .selectFrom('project')
      .select((e) => e.fn.countAll<number>().as('n'))
      .whereRef('company_id', '=', 'company.id')
      .$asScalar()
      .$notNull()
      .as('projectCount'),
    eb
      .selectFrom('goal')
      .select((e) => e.fn.countAll<number>().as('n'))
      .whereRef('company_id', '=', 'company.id')
      .$asScalar()
      .$notNull()
      .as('goalCount'),
    eb
      .selectFrom('approval')
      .select((e) => e.fn.countAll<number>().as('n'))
      .whereRef('company_id', '=', 'company.id')
      .where('status', '=', 'pending')
      .$asScalar()
      .$notNull()
      .as('pendingApprovalCount'),
  ])
  if (ids) query = query.where('id', 'in', ids)
  return Object.fromEntries(db.all(query).map(({ id, ...counts }) => [id, counts]))
}

/** Sums the counts of a company's issues. */
const issuesOf = (eb: ExpressionBuilder<Tables, 'company'>) =>
  eb
    .selectFrom('issue_count')
    .select((e) => e.fn.coalesce(e.fn.sum<number>('n'), raw<number>`0`).as('n'))
    .whereRef('company_id', '=', 'company.id')
