import type { Context } from '../../src/context.ts'
import { sql } from '../../src/database/sql.ts'
import { hashKey } from '../../src/http/caller.ts'
import * as rows from '../arrange.ts'

/** Rows for tests that ask as nobody in particular; see arrange.ts. */

export { insertCompany as insertCompanyRow } from '../arrange.ts'

/** @returns the agent's id */
export const insertAgentRow = (
  ctx: Context,
  companyId: string,
  { role = 'engineer', reportsTo = null }: { role?: string; reportsTo?: string | null } = {},
): string => rows.insertAgentRow(ctx, { company_id: companyId, name: 'Ada', role, reports_to: reportsTo }).id

/** @returns the key's id, and the key */
export function insertKeyRow(ctx: Context, companyId: string, agentId: string): { id: string; key: string } {
  const key = rows.insertKey(ctx, { id: agentId, company_id: companyId })
  // As one that was never used.
  const unused = sql.updateTable('agent_key').set({ last_used_at: null }).where('hash', '=', hashKey(key))
  return { id: ctx.db.first(unused.returning('id'))!.id, key }
}

/** @returns the id of a run that is under way */
export const insertRunRow = (ctx: Context, companyId: string, agentId: string): string =>
  rows.insertRunRow(ctx, { id: agentId, company_id: companyId })
