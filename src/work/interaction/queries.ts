import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { literals, sql } from '../../platform/database/sql.ts'
import type { InteractionTable } from '../../platform/database/tables.ts'
import { OPEN_STATUSES } from '../issue/lifecycle.ts'
import type { InteractionRow } from './interaction.ts'

export const insertInteraction = (db: Db, row: Insertable<InteractionTable>): InteractionRow =>
  db.first(sql.insertInto('interaction').values(row).returningAll())!

export const updateInteraction = (db: Db, id: string, change: Updateable<InteractionTable>): InteractionRow =>
  db.first(sql.updateTable('interaction').set(change).where('id', '=', id).returningAll())!

export const findInteraction = (db: Db, of: { issueId: string; id: string }): InteractionRow | undefined =>
  db.first(sql.selectFrom('interaction').selectAll().where('id', '=', of.id).where('issue_id', '=', of.issueId))

/** Selects the interactions of an issue or a company, for `readPage`. */
export function selectInteractions(of: {
  issueId?: string
  companyId?: string
  statuses: readonly InteractionRow['status'][] | undefined
}) {
  let query = sql.selectFrom('interaction').selectAll()
  if (of.issueId !== undefined) query = query.where('issue_id', '=', of.issueId)
  if (of.companyId !== undefined) query = query.where('company_id', '=', of.companyId)
  return of.statuses ? query.where('status', 'in', of.statuses) : query
}

/** Lists the unanswered interactions of open issues, latest first. */
export const listPendingInteractions = (db: Db, of: { companyId: string; limit: number }) =>
  db.all(
    sql
      .selectFrom('interaction')
      .innerJoin('issue', 'issue.id', 'interaction.issue_id')
      .leftJoin('agent', 'agent.id', 'interaction.created_by_agent_id')
      .selectAll('interaction')
      .select(['issue.identifier', 'agent.name as asker'])
      .where('interaction.company_id', '=', of.companyId)
      .where('interaction.status', '=', 'pending')
      .where('issue.status', 'in', literals(OPEN_STATUSES))
      .orderBy('interaction.id', 'desc')
      .limit(of.limit),
  )
