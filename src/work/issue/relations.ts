import type { Db } from '../../platform/database/db.ts'
import { each, prepared, raw, sql } from '../../platform/database/sql.ts'
import type { IssueRow, Relations } from './issue.ts'
import { OPEN_STATUSES } from './lifecycle.ts'

export const NO_RELATIONS: Relations = { labels: [], blockedBy: [], blocks: [] }

/** The SQL condition that an issue has relations. Most issues have none. */
export const hasRelations = raw<boolean>`(
  exists (select 1 from issue_label where issue_id = issue.id)
  or exists (select 1 from issue_blocker where issue_id = issue.id)
  or exists (select 1 from issue_blocker where blocker_id = issue.id))`

/** Returns the relations of issues, by issue, with three queries. */
export function findRelations(db: Db, issues: readonly Pick<IssueRow, 'id'>[]): (issueId: string) => Relations {
  const ids = JSON.stringify(issues.map((issue) => issue.id))
  const labels = Map.groupBy(db.all(labelsOf({ ids })), (row) => row.of)
  const blockedBy = Map.groupBy(db.all(blockersOf({ ids })), (row) => row.of)
  const blocks = Map.groupBy(db.all(blockedOf({ ids })), (row) => row.of)
  return (issueId) => ({
    labels: labels.get(issueId) ?? [],
    blockedBy: blockedBy.get(issueId) ?? [],
    blocks: blocks.get(issueId) ?? [],
  })
}

const labelsOf = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('issue_label')
    .crossJoin('label')
    .select(['issue_label.issue_id as of', 'label.id', 'label.company_id', 'label.name', 'label.color'])
    .whereRef('issue_label.issue_id', '=', 'wanted.value')
    .whereRef('label.id', '=', 'issue_label.label_id')
    .orderBy('label.name'),
)

const NEIGHBOUR = [
  'issue.id',
  'issue.identifier',
  'issue.title',
  'issue.status',
  'issue.priority',
  'issue.assignee_agent_id',
] as const

const blockersOf = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('issue_blocker')
    .crossJoin('issue')
    .select(['issue_blocker.issue_id as of', ...NEIGHBOUR])
    .whereRef('issue_blocker.issue_id', '=', 'wanted.value')
    .whereRef('issue.id', '=', 'issue_blocker.blocker_id')
    .orderBy('issue.id'),
)

const openBlockersOf = prepared((of: { ids: string; open: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('issue_blocker')
    .crossJoin('issue')
    .select(['issue_blocker.issue_id as of', ...NEIGHBOUR])
    .whereRef('issue_blocker.issue_id', '=', 'wanted.value')
    .whereRef('issue.id', '=', 'issue_blocker.blocker_id')
    .where(raw<boolean>`issue.status in (select value from json_each(${of.open}))`)
    .orderBy('issue.id'),
)

/** Returns the open blockers of issues, by issue, with one query. */
export function findOpenBlockers(
  db: Db,
  issues: readonly Pick<IssueRow, 'id'>[],
): (issueId: string) => Relations['blockedBy'] {
  const ids = JSON.stringify(issues.map((issue) => issue.id))
  const blockers = Map.groupBy(db.all(openBlockersOf({ ids, open: JSON.stringify(OPEN_STATUSES) })), (row) => row.of)
  return (issueId) => blockers.get(issueId) ?? []
}

const blockedOf = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('issue_blocker')
    .crossJoin('issue')
    .select(['issue_blocker.blocker_id as of', ...NEIGHBOUR])
    .whereRef('issue_blocker.blocker_id', '=', 'wanted.value')
    .whereRef('issue.id', '=', 'issue_blocker.issue_id')
    .orderBy('issue.id'),
)

export function replaceLabels(db: Db, issueId: string, labelIds: readonly string[]): void {
  db.run(sql.deleteFrom('issue_label').where('issue_id', '=', issueId))
  if (labelIds.length === 0) return
  db.run(sql.insertInto('issue_label').values(labelIds.map((label_id) => ({ issue_id: issueId, label_id }))))
}

export function replaceBlockers(db: Db, issueId: string, blockerIds: readonly string[]): void {
  db.run(sql.deleteFrom('issue_blocker').where('issue_id', '=', issueId))
  if (blockerIds.length === 0) return
  db.run(sql.insertInto('issue_blocker').values(blockerIds.map((blocker_id) => ({ issue_id: issueId, blocker_id }))))
}

const reaches = prepared((way: { from: string; to: string }) =>
  sql
    .withRecursive('waited_for(id)', (cte) =>
      cte
        .selectFrom('issue_blocker')
        .select('issue_blocker.blocker_id as id')
        .where('issue_blocker.issue_id', '=', way.from)
        .union(
          cte
            .selectFrom('waited_for')
            .innerJoin('issue_blocker', 'issue_blocker.issue_id', 'waited_for.id')
            .select('issue_blocker.blocker_id as id'),
        ),
    )
    .selectFrom('waited_for')
    .select('waited_for.id')
    .where('waited_for.id', '=', way.to)
    .limit(1),
)

/** Whether one issue waits for another, directly or through other issues. */
export const waitsFor = (db: Db, way: { from: string; to: string }) => db.first(reaches(way)) !== undefined
