import type { Selectable } from 'kysely'
import { monthOf } from '../../organization/cost/money.ts'
import type { Db } from '../../platform/database/db.ts'
import { literals, raw, sql } from '../../platform/database/sql.ts'
import type { InboxStateTable } from '../../platform/database/tables.ts'
import { EVERYBODY } from '../comment/queries.ts'
import { OPEN_STATUSES } from '../issue/lifecycle.ts'

export type InboxState = Selectable<InboxStateTable>

/** The maximum number of items of one kind. The latest are listed. */
export const MOST = 200

interface Of {
  companyId: string
  userId: string
}

export const listPendingApprovals = (db: Db, of: Of) =>
  db.all(
    sql
      .selectFrom('approval')
      .leftJoin('agent as requester', 'requester.id', 'approval.requested_by_agent_id')
      .leftJoin('agent', 'agent.id', 'approval.agent_id')
      .select(['approval.id', 'approval.type', 'approval.payload', 'approval.updated_at', 'requested_by_agent_id'])
      .select(['agent.name as agent', 'requester.name as requester'])
      .select((eb) =>
        eb
          .selectFrom('approval_issue')
          .innerJoin('issue', 'issue.id', 'approval_issue.issue_id')
          .select(raw<string | null>`group_concat(identifier, ', ' order by issue.id)`.as('identifiers'))
          .whereRef('approval_id', '=', 'approval.id')
          .as('identifiers'),
      )
      .where('approval.company_id', '=', of.companyId)
      .where('approval.status', '=', 'pending')
      .orderBy('approval.id', 'desc')
      .limit(MOST),
  )

/** Lists comments of others that mention a person or everybody. */
export const listMentions = (db: Db, of: Of) =>
  db.all(
    sql
      .selectFrom('mention')
      .innerJoin('comment', 'comment.id', 'mention.comment_id')
      .innerJoin('issue', 'issue.seq', 'comment.issue_seq')
      .leftJoin('agent', 'agent.id', 'comment.author_agent_id')
      .select(['comment.id', 'comment.body', 'comment.created_at', 'comment.author_agent_id'])
      .select(['issue.id as issue_id', 'issue.identifier', 'agent.name as author'])
      .where('mention.company_id', '=', of.companyId)
      .where('mention.user_id', 'in', [of.userId, EVERYBODY])
      .where(raw<boolean>`comment.author_user_id is not ${of.userId}`)
      .groupBy('comment.id')
      .orderBy('mention.comment_id', 'desc')
      .limit(MOST),
  )

/** Lists the open issues that are assigned to a person. */
export const listAssigned = (db: Db, of: Of) =>
  db.all(
    sql
      .selectFrom('issue')
      .select(['id', 'identifier', 'title', 'assigned_at', 'created_at'])
      .where('assignee_user_id', '=', of.userId)
      .where('company_id', '=', of.companyId)
      .where('status', 'in', literals(OPEN_STATUSES))
      .limit(MOST),
  )

/** Lists the agents that a failure stopped. */
export const listFailing = (db: Db, of: { companyId: string }) =>
  db.all(
    sql
      .selectFrom('agent')
      .select(['id', 'name', 'pause_message', 'error_reason', 'paused_at', 'updated_at'])
      .where('company_id', '=', of.companyId)
      .where((eb) => eb.or([eb('status', '=', 'error'), eb('pause_reason', 'in', ['failures', 'loop'])]))
      .limit(MOST),
  )

/** Lists the agents that have a budget, with their spend in the month of `now`. */
export const listWithBudget = (db: Db, of: { companyId: string; now: string }) =>
  db.all(
    sql
      .selectFrom('agent')
      .leftJoin('cost_total', (join) =>
        join
          .onRef('cost_total.company_id', '=', 'agent.company_id')
          .on('cost_total.kind', '=', 'agent')
          .onRef('cost_total.key', '=', 'agent.id')
          .on('cost_total.period', '=', monthOf(of.now)),
      )
      .select(['agent.id', 'agent.id as agentId', 'agent.name', 'budget_micros as budget'])
      .select(({ fn }) => fn.coalesce('cost_micros', raw<number>`0`).as('spent'))
      .where('agent.company_id', '=', of.companyId)
      .where('budget_micros', '>', 0)
      .where('agent.status', '<>', 'terminated'),
  )

export const findBudget = (db: Db, of: { companyId: string }) =>
  db.first(sql.selectFrom('company').select(['id', 'name', 'budget_micros as budget']).where('id', '=', of.companyId))

/**
 * Finds the event that used up a budget or raised its use past 80 %: the pause
 * for the budget, otherwise the warning, otherwise the last change of the budget.
 */
export const findBudgetEvent = (db: Db, of: { entityId: string; since: string }) =>
  db.first(
    sql
      .selectFrom('activity')
      .select('created_at')
      .where('entity_id', '=', of.entityId)
      .where('created_at', '>=', of.since)
      .where(
        raw<boolean>`(action in ('agent.budget_warning', 'company.budget_warning', 'agent.budget_changed')
          or action in ('agent.paused', 'company.paused') and details ->> '$.reason' = 'budget')`,
      )
      .orderBy(raw`action like '%.paused' desc, action like '%.budget_warning' desc, seq desc`)
      .limit(1),
  )

export const listStates = (db: Db, of: { userId: string }): InboxState[] =>
  db.all(sql.selectFrom('inbox_state').selectAll().where('user_id', '=', of.userId))

/** Stores whether a person has read or dismissed an item. An item that is neither has no row. */
export function saveState(db: Db, state: InboxState): void {
  const { user_id, item_id, item_at, read_at, dismissed_at } = state
  if (read_at === null && dismissed_at === null) {
    db.run(sql.deleteFrom('inbox_state').where('user_id', '=', user_id).where('item_id', '=', item_id))
    return
  }
  db.run(
    sql
      .insertInto('inbox_state')
      .values(state)
      .onConflict((conflict) => conflict.doUpdateSet({ item_at, read_at, dismissed_at })),
  )
}
