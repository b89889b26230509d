import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { literals, raw, sql } from '../../platform/database/sql.ts'
import type { ApprovalCommentTable, ApprovalTable } from '../../platform/database/tables.ts'
import type { ApprovalCommentRow, ApprovalRow } from './approval.ts'
import { UNDECIDED } from './lifecycle.ts'

export const findApproval = (db: Db, key: { id: string }): ApprovalRow | undefined =>
  db.first(sql.selectFrom('approval').selectAll().where('id', '=', key.id))

/** Finds the undecided approval of an agent's hire. There is at most one. */
export const findOpenHire = (db: Db, of: { agentId: string }): ApprovalRow | undefined =>
  db.first(
    sql
      .selectFrom('approval')
      .selectAll()
      .where('agent_id', '=', of.agentId)
      .where('type', '=', raw.lit('hire_agent'))
      .where('status', 'in', literals(UNDECIDED)),
  )

/** Finds the approval that requests a folder for an agent, if it is undecided or was rejected. */
export const findFolderApproval = (db: Db, of: { agentId: string; folder: string }) =>
  db.first(
    sql
      .selectFrom('approval')
      .select('id')
      .where('agent_id', '=', of.agentId)
      .where('type', '=', raw.lit('allow_folder'))
      .where('status', 'in', [...UNDECIDED, 'rejected'])
      .where(raw<string>`payload ->> '$.folder'`, '=', of.folder),
  )

/** Cancels the undecided approval of an agent's hire. Returns undefined if there is none. */
export const cancelOpenHire = (db: Db, of: { agentId: string; at: string }) =>
  db.first(
    sql
      .updateTable('approval')
      .set({ status: 'cancelled', updated_at: of.at })
      .where('agent_id', '=', of.agentId)
      .where('type', '=', raw.lit('hire_agent'))
      .where('status', 'in', literals(UNDECIDED))
      .returning('id'),
  )

/** Finds the company's CEO agent, the oldest if there are several. */
export const findCeo = (db: Db, of: { companyId: string }) =>
  db.first(
    sql
      .selectFrom('agent')
      .selectAll()
      .where('company_id', '=', of.companyId)
      .where('role', '=', 'ceo')
      .where('status', '<>', 'terminated')
      .orderBy('id')
      .limit(1),
  )

export interface ApprovalFilter {
  companyId: string
  statuses: readonly ApprovalRow['status'][] | undefined
  types: readonly ApprovalRow['type'][] | undefined
}

export function selectApprovals(filter: ApprovalFilter) {
  let query = sql.selectFrom('approval').selectAll().where('company_id', '=', filter.companyId)
  if (filter.statuses) query = query.where('status', 'in', filter.statuses)
  if (filter.types) query = query.where('type', 'in', filter.types)
  return query
}

export const insertApproval = (db: Db, row: Insertable<ApprovalTable>): ApprovalRow =>
  db.first(sql.insertInto('approval').values(row).returningAll())!

/** Links an approval to an issue. Returns 0 if the link exists. */
export const insertApprovalLink = (db: Db, link: { approvalId: string; issueId: string }) =>
  db.run(
    sql
      .insertInto('approval_issue')
      .values({ approval_id: link.approvalId, issue_id: link.issueId })
      .onConflict((conflict) => conflict.doNothing()),
  )

export const updateApproval = (db: Db, id: string, change: Updateable<ApprovalTable>): ApprovalRow =>
  db.first(sql.updateTable('approval').set(change).where('id', '=', id).returningAll())!

export const insertApprovalComment = (db: Db, row: Insertable<ApprovalCommentTable>): ApprovalCommentRow =>
  db.first(sql.insertInto('approval_comment').values(row).returningAll())!
export const selectApprovalComments = (of: { approvalId: string }) =>
  sql.selectFrom('approval_comment').selectAll().where('approval_id', '=', of.approvalId)
