import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../database/db.ts'
import { sql } from '../database/sql.ts'
import type { ApprovalTable } from '../database/tables.ts'

export type ApprovalRow = Selectable<ApprovalTable>

/** Puts an approval in, linked to issues. */
export function insertHireApproval(db: Db, row: Insertable<ApprovalTable>, issueIds: readonly string[]): ApprovalRow {
  const approval = db.first(sql.insertInto('approval').values(row).returningAll())!
  if (issueIds.length > 0) {
    const links = issueIds.map((issueId) => ({ approval_id: approval.id, issue_id: issueId }))
    db.run(sql.insertInto('approval_issue').values(links))
  }
  return approval
}
