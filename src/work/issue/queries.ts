import type { Db } from '../../platform/database/db.ts'
import { literals, prepared, raw, sql } from '../../platform/database/sql.ts'
import { type IssueColumns, type IssueRow, PRIORITIES } from './issue.ts'
import { type IssueStatus, OPEN_STATUSES } from './lifecycle.ts'

const byId = prepared((key: { ref: string }) => sql.selectFrom('issue').selectAll().where('id', '=', key.ref))
const byIdentifier = prepared((key: { ref: string }) =>
  sql.selectFrom('issue').selectAll().where('identifier', '=', key.ref),
)

/** Whether a reference to an issue is an identifier, in any case: `ABC-12`. Otherwise it is an id. */
export const isIdentifier = (ref: string): boolean => /^[a-z]+-\d+$/i.test(ref)

/** Finds an issue by its id or identifier. */
export const findIssue = (db: Db, ref: string): IssueRow | undefined =>
  db.first(isIdentifier(ref) ? byIdentifier({ ref }) : byId({ ref }))

const insert = prepared((row: Omit<IssueRow, 'seq' | 'priority_rank'>) =>
  sql.insertInto('issue').values({
    id: row.id,
    company_id: row.company_id,
    issue_number: row.issue_number,
    identifier: row.identifier,
    title: row.title,
    description: row.description,
    status: row.status,
    priority: row.priority,
    assignee_agent_id: row.assignee_agent_id,
    assignee_user_id: row.assignee_user_id,
    assigned_by_type: row.assigned_by_type,
    assigned_by_id: row.assigned_by_id,
    assigned_at: row.assigned_at,
    parent_id: row.parent_id,
    project_id: row.project_id,
    goal_id: row.goal_id,
    created_by_agent_id: row.created_by_agent_id,
    created_by_user_id: row.created_by_user_id,
    created_by_run_id: row.created_by_run_id,
    request_depth: row.request_depth,
    billing_code: row.billing_code,
    started_at: row.started_at,
    completed_at: row.completed_at,
    cancelled_at: row.cancelled_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }),
)

export const insertIssue = (db: Db, row: Omit<IssueRow, 'seq' | 'priority_rank'>): IssueRow => ({
  ...row,
  seq: db.insert(insert(row)),
  priority_rank: PRIORITIES.indexOf(row.priority),
})

const updateOf = (columns: readonly (keyof IssueColumns)[]) =>
  prepared((values: IssueColumns & { ref: string }) =>
    sql
      .updateTable('issue')
      .set(Object.fromEntries(columns.map((column) => [column, values[column]])))
      .where('id', '=', values.ref)
      .returningAll(),
  )

/** The queries of `updateIssueRow` by their columns. Few sets of columns occur, and building a query takes longer than running it. */
const updates = new Map<string, ReturnType<typeof updateOf>>()

export function updateIssueRow(db: Db, id: string, change: IssueColumns): IssueRow {
  const columns = (Object.keys(change) as (keyof IssueColumns)[]).filter((column) => change[column] !== undefined)
  const key = columns.join()
  const update = updates.get(key) ?? updateOf(columns)
  updates.set(key, update)
  return db.first(update({ ...change, ref: id }))!
}

/** Lists the open issues of an agent, the most urgent first. */
export const listOpenIssuesOfAgent = (db: Db, of: { agentId: string }): IssueRow[] =>
  db.all(
    sql
      .selectFrom('issue')
      .selectAll()
      .where('assignee_agent_id', '=', of.agentId)
      .where('status', 'in', literals(OPEN_STATUSES))
      .orderBy('priority_rank')
      .orderBy('id'),
  )

const touch = prepared((issue: { id: string; at: string }) =>
  sql.updateTable('issue').set({ updated_at: issue.at }).where('id', '=', issue.id),
)

/** Records that something happened on an issue, such as a comment. */
export const touchIssue = (db: Db, issue: { id: string; at: string }) => db.run(touch(issue))

export interface Claim {
  agentId: string
  from: readonly IssueStatus[]
  by: { type: 'agent' | 'user' | 'system'; id: string }
  at: string
}

const claim = prepared((claimed: IssueRow & { from: IssueStatus }) =>
  sql
    .updateTable('issue')
    .set({
      status: 'in_progress',
      assignee_agent_id: claimed.assignee_agent_id,
      assigned_by_type: claimed.assigned_by_type,
      assigned_by_id: claimed.assigned_by_id,
      assigned_at: claimed.assigned_at,
      started_at: claimed.started_at,
      updated_at: claimed.updated_at,
    })
    .where('id', '=', claimed.id)
    .where('status', '=', claimed.from)
    .where('assignee_user_id', 'is', null)
    .where((eb) =>
      eb.or([eb('assignee_agent_id', 'is', null), eb('assignee_agent_id', '=', claimed.assignee_agent_id)]),
    ),
)

/**
 * Claims an issue for an agent if it is free or already assigned to the agent. Returns undefined if it is not.
 *
 * @param issue as the database has it: the row was read in this transaction
 */
export function claimIssue(db: Db, issue: IssueRow, { agentId, from, by, at }: Claim): IssueRow | undefined {
  if (!from.includes(issue.status)) return undefined
  const claimed: IssueRow = {
    ...issue,
    // If the issue is already assigned to this agent, its assigner does not change.
    ...(issue.assignee_agent_id !== agentId && { assigned_by_type: by.type, assigned_by_id: by.id, assigned_at: at }),
    status: 'in_progress',
    assignee_agent_id: agentId,
    started_at: at,
    updated_at: at,
  }
  return db.run(claim({ ...claimed, from: issue.status })) === 1 ? claimed : undefined
}

const above = prepared((of: { parentId: string }) =>
  sql
    .withRecursive('above(id, distance)', (cte) =>
      cte
        .selectFrom('issue')
        .select(['issue.id', raw<number>`1`.as('distance')])
        .where('issue.id', '=', of.parentId)
        .unionAll(
          cte
            .selectFrom('above')
            .innerJoin('issue as below', 'below.id', 'above.id')
            .innerJoin('issue as parent', 'parent.id', 'below.parent_id')
            .select(['parent.id', raw<number>`distance + 1`.as('distance')]),
        ),
    )
    .selectFrom('above')
    .innerJoin('issue', 'issue.id', 'above.id')
    .selectAll('issue')
    .orderBy('distance'),
)

/** Lists the ancestors of an issue, from its parent to the top. */
export const listAncestors = (db: Db, of: Pick<IssueRow, 'parent_id'>): IssueRow[] =>
  of.parent_id === null ? [] : db.all(above({ parentId: of.parent_id }))

const deepen = prepared((change: { id: string; by: number }) =>
  sql
    .withRecursive('below(id)', (cte) =>
      cte
        .selectFrom('issue')
        .select('issue.id')
        .where('issue.id', '=', change.id)
        .unionAll(cte.selectFrom('below').innerJoin('issue', 'issue.parent_id', 'below.id').select('issue.id')),
    )
    .updateTable('issue')
    .set((eb) => ({ request_depth: eb('request_depth', '+', change.by) }))
    .where('id', 'in', (eb) => eb.selectFrom('below').select('below.id')),
)

/** Changes the depth of an issue and its descendants by a number of levels. */
export const deepenIssues = (db: Db, change: { id: string; by: number }) => db.run(deepen(change))

const waiting = prepared((of: { blockerId: string }) =>
  sql
    .selectFrom('issue_blocker')
    .innerJoin('issue', 'issue.id', 'issue_blocker.issue_id')
    .selectAll('issue')
    .where('issue_blocker.blocker_id', '=', of.blockerId)
    .where(hasNoOpenBlocker),
)

/** The SQL condition that an issue has no open blocker. Blockers that are done or cancelled do not block. */
export const hasNoOpenBlocker = raw<boolean>`not exists (
  select 1 from issue_blocker as wait join issue as blocker on blocker.id = wait.blocker_id
  where wait.issue_id = issue.id and blocker.status not in ('done', 'cancelled'))`

const openBlocker = prepared((of: { id: string }) =>
  sql
    .selectFrom('issue_blocker')
    .innerJoin('issue', 'issue.id', 'issue_blocker.blocker_id')
    .select('issue.id')
    .where('issue_blocker.issue_id', '=', of.id)
    .where('issue.status', 'in', literals(OPEN_STATUSES))
    .limit(1),
)

/** Whether a blocker of the issue is open. */
export const isBlocked = (db: Db, issue: Pick<IssueRow, 'id'>) => db.first(openBlocker({ id: issue.id })) !== undefined

/** Lists the issues that an issue blocks, whether it is open or not. */
export const listWaitingFor = (db: Db, of: { blockerId: string }): IssueRow[] =>
  db.all(
    sql
      .selectFrom('issue_blocker')
      .innerJoin('issue', 'issue.id', 'issue_blocker.issue_id')
      .selectAll('issue')
      .where('issue_blocker.blocker_id', '=', of.blockerId),
  )

/** Lists the issues that an issue blocked and that have no open blocker any more. */
export const listUnblockedBy = (db: Db, of: { blockerId: string }): IssueRow[] => db.all(waiting(of))

const openChild = prepared((of: { parentId: string }) =>
  sql
    .selectFrom('issue')
    .select('id')
    .where('parent_id', '=', of.parentId)
    .where('status', 'in', literals(OPEN_STATUSES))
    .limit(1),
)

const child = prepared((of: { parentId: string }) =>
  sql.selectFrom('issue').select('id').where('parent_id', '=', of.parentId).limit(1),
)

export const hasChild = (db: Db, of: { parentId: string }) => db.first(child(of)) !== undefined

/** Deletes an issue. What belongs to it goes with it, by foreign keys. */
export const deleteIssueRow = (db: Db, of: { id: string }) => db.run(sql.deleteFrom('issue').where('id', '=', of.id))

export const hasOpenChild = (db: Db, of: { parentId: string }) => db.first(openChild(of)) !== undefined
