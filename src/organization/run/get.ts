import { type Caller, isOfCompany } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { isAbove } from '../agent/queries.ts'
import { findIssueByRef, findRun } from './queries.ts'
import type { RunRow } from './run.ts'

/** Gets a run; one of another company is as unknown as one that is nowhere. */
export function getRun(ctx: Context, caller: Caller, id: string): RunRow {
  const run = findRun(ctx.db, { id })
  if (!run || !isOfCompany(caller, run.company_id)) throw notFound('run', id)
  return run
}

/** The board commands every agent, a manager those below it; an agent itself neither starts nor stops its own runs. */
export function mayCommand(ctx: Context, caller: Caller, agentId: string, what: string): void {
  if (caller.type === 'agent' && !isAbove(ctx.db, { managerId: caller.agentId, agentId })) {
    throw forbidden(`Only the board and the agent's managers may ${what}.`)
  }
}

/** The issue that a body names, by id or identifier. */
export function getIssueRef(ctx: Context, companyId: string, ref: string) {
  const issue = findIssueByRef(ctx.db, { companyId, ref })
  if (!issue) throw new AppError('semantic', `issueId: there is no issue ${ref} in this company.`)
  return issue
}
