import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely'
import type { Caller } from '../../access/caller/caller.ts'
import { findAgentByReference } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { each, literals, prepared, raw, sql } from '../../platform/database/sql.ts'
import type { Tables } from '../../platform/database/tables.ts'
import { forbidden } from '../../platform/errors.ts'
import type { IssueRow } from './issue.ts'
import { ISSUE_STATUSES, type IssueStatus } from './lifecycle.ts'
import { findIssue } from './queries.ts'
import { isUnreadFor } from './unread-queries.ts'

export interface IssueFilter {
  companyId: string
  statuses?: readonly IssueStatus[] | undefined
  assigneeAgentId?: string | undefined
  assigneeUserId?: string | undefined
  projectId?: string | undefined
  parentId?: string | undefined
  goalId?: string | undefined
  labelId?: string | undefined
  unread?: { userId: string; is: boolean } | undefined
  isUnassigned?: boolean | undefined
  /** Only issues with one of these `seq`. */
  seqs?: readonly number[] | undefined
}

/** The position after which a page begins: an issue's priority rank and id. */
export type IssueCursor = readonly [rank: number, id: string]

/**
 * Lists issues by priority, then newest first.
 *
 * Each filter has an index `(filter, status, priority_rank, id desc)`. SQLite
 * can read such an index in order for one status only. The query therefore has
 * a branch for each status, and two where a page begins (the rest of its rank,
 * and the lower ranks), and SQLite merges the branches. The cost of a page
 * depends on its size and not on the number of issues. Labels and `seqs` are
 * found first and sorted afterwards, because no index has their order.
 */
export function listIssues(db: Db, filter: IssueFilter, page: { after: IssueCursor | undefined; limit: number }) {
  const branches = branchesOf(filter, page.after)
  const [first, ...rest] = branches
  const all = rest.reduce((query, branch) => query.unionAll(branch), first!)
  return db.all(
    all
      .orderBy('priority_rank')
      .orderBy('id', 'desc')
      .limit(page.limit + 1),
  )
}

const bySeq = prepared((of: { seqs: string }) =>
  sql
    .selectFrom(each(of.seqs))
    .crossJoin('issue')
    .selectAll('issue')
    .where(raw<boolean>`issue.seq = wanted.value`)
    .orderBy(raw`wanted.key`),
)

/** Lists issues by `seq`, in the order given. */
export const listIssuesBySeq = (db: Db, seqs: readonly number[]): IssueRow[] =>
  db.all(bySeq({ seqs: JSON.stringify(seqs) }))

export const countIssues = (db: Db, filter: IssueFilter): number => {
  const query = matching(filter).select((eb) => eb.fn.countAll<number>().as('n'))
  return db.first(filter.statuses ? query.where('status', 'in', literals(filter.statuses)) : query)!.n
}

function branchesOf(filter: IssueFilter, after: IssueCursor | undefined): Branch[] {
  if (isScattered(filter)) {
    const found = withStatuses(matching(filter).selectAll(), filter.statuses)
    return [after ? found.where((eb) => eb.or([eb('priority_rank', '>', after[0]), sameRank(eb, after)])) : found]
  }
  // Without a filter, the company's own index has the right order.
  const isPlain = filter.statuses === undefined && narrowest(filter) === undefined
  const all = matching(filter).selectAll()
  const byStatus = isPlain
    ? [all]
    : literals(filter.statuses ?? ISSUE_STATUSES).map((one) => all.where('status', '=', one))
  if (!after) return byStatus
  return byStatus.flatMap((query) => [
    query.where((eb) => sameRank(eb, after)),
    query.where('priority_rank', '>', after[0]),
  ])
}

/** Whether no index has the order of the filtered issues. */
const isScattered = (filter: IssueFilter) => filter.seqs !== undefined || filter.labelId !== undefined

const sameRank = (eb: ExpressionBuilder<Tables, 'issue'>, [rank, id]: IssueCursor) =>
  eb.and([eb('priority_rank', '=', rank), eb('id', '<', id)])

type Branch = SelectQueryBuilder<Tables, 'issue', IssueRow>

const withStatuses = (query: Branch, statuses: IssueFilter['statuses']) =>
  statuses ? query.where('status', 'in', literals(statuses)) : query

/** Returns the most selective filter of the request. The query reads the index of that filter. */
function narrowest(filter: IssueFilter) {
  return FILTERS.find(([name]) => filter[name] !== undefined)
}

/** The filters that have an index, the most selective first. */
const FILTERS = [
  ['parentId', 'parent_id'],
  ['assigneeUserId', 'assignee_user_id'],
  ['assigneeAgentId', 'assignee_agent_id'],
  ['goalId', 'goal_id'],
  ['projectId', 'project_id'],
] as const

/** Returns a column in a form that prevents the use of its index: with SQLite's unary plus. */
const unindexed = (column: string) => raw<string>`+${raw.ref(`issue.${column}`)}`

function matching(filter: IssueFilter) {
  const driver = narrowest(filter)
  const scattered = isScattered(filter)
  let query = sql.selectFrom('issue')
  query =
    driver || scattered
      ? query.where(unindexed('company_id'), '=', filter.companyId)
      : query.where('company_id', '=', filter.companyId)
  for (const [name, column] of FILTERS) {
    const value = filter[name]
    if (value === undefined) continue
    const isDriver = !scattered && name === driver?.[0]
    query = query.where(isDriver ? sql.dynamic.ref<string>(column) : unindexed(column), '=', value)
  }
  if (filter.labelId !== undefined) {
    const labelId = filter.labelId
    query = query.where('id', 'in', (eb) =>
      eb.selectFrom('issue_label').select('issue_id').where('label_id', '=', labelId),
    )
  }
  if (filter.isUnassigned) query = query.where('assignee_agent_id', 'is', null).where('assignee_user_id', 'is', null)
  if (filter.unread !== undefined) {
    const isUnread = isUnreadFor(filter.unread.userId)
    query = query.where(filter.unread.is ? isUnread : raw<boolean>`not ${isUnread}`)
  }
  if (filter.seqs === undefined) return query
  return query.where(raw<boolean>`issue.seq in (select value from json_each(${JSON.stringify(filter.seqs)}))`)
}

/** The filters of a list request, unresolved. */
export interface ListQuery {
  status?: readonly IssueStatus[] | undefined
  assigneeAgentId?: string | undefined
  assigneeUserId?: string | undefined
  projectId?: string | undefined
  parentId?: string | undefined
  goalId?: string | undefined
  labelId?: string | undefined
  unread?: 'true' | 'false' | undefined
}

/** In a filter, `none` selects the issues without an assignee. */
const NOBODY = 'none'

/**
 * Resolves the filters of a list request: `me` is the caller, an agent may be
 * named by its `urlKey`, and a parent by its identifier.
 */
export function filterOf(ctx: Context, caller: Caller, companyId: string, query: ListQuery): IssueFilter {
  const { assigneeAgentId, projectId, goalId, labelId, unread } = query
  if (unread !== undefined && caller.type !== 'board') throw forbidden('Only people have unread issues.')
  return {
    companyId,
    statuses: query.status,
    isUnassigned: assigneeAgentId === NOBODY,
    assigneeAgentId:
      assigneeAgentId === undefined || assigneeAgentId === NOBODY
        ? undefined
        : agentOf(ctx, caller, companyId, assigneeAgentId),
    assigneeUserId: query.assigneeUserId === 'me' && caller.type === 'board' ? caller.userId : query.assigneeUserId,
    parentId: query.parentId === undefined ? undefined : (findIssue(ctx.db, query.parentId)?.id ?? query.parentId),
    projectId,
    goalId,
    labelId,
    unread: unread && caller.type === 'board' ? { userId: caller.userId, is: unread === 'true' } : undefined,
  }
}

function agentOf(ctx: Context, caller: Caller, companyId: string, ref: string): string {
  if (ref === 'me' && caller.type === 'agent') return caller.agentId
  return findAgentByReference(ctx.db, { companyId, ref })?.id ?? ref
}

export const cursorOf = (row: IssueRow): [rank: number, id: string] => [row.priority_rank, row.id]
