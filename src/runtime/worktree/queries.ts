import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { WorktreeTable } from '../../platform/database/tables.ts'

export type WorktreeRow = Selectable<WorktreeTable>

export const findWorktree = (db: Db, of: { issueId: string }): WorktreeRow | undefined =>
  db.first(sql.selectFrom('worktree').selectAll().where('issue_id', '=', of.issueId))

/** Stores the worktree of an issue. It replaces a removed one. */
export const putWorktree = (db: Db, row: Insertable<WorktreeTable>) => db.run(sql.replaceInto('worktree').values(row))

export const updateWorktree = (db: Db, issueId: string, change: Updateable<WorktreeTable>) =>
  db.run(sql.updateTable('worktree').set(change).where('issue_id', '=', issueId))

/** Finds the primary workspace of an issue's project, if it has the isolation `worktree`. */
export const findIsolatingWorkspace = (db: Db, of: { issueId: string }) =>
  db.first(
    sql
      .selectFrom('issue')
      .innerJoin('workspace', (join) =>
        join.onRef('workspace.project_id', '=', 'issue.project_id').on('workspace.is_primary', '=', 1),
      )
      .select([
        'issue.identifier',
        'workspace.id',
        'workspace.name',
        'workspace.company_id',
        'workspace.cwd',
        'workspace.cwd_approved',
        'workspace.repo_ref',
        'workspace.setup_command',
        'workspace.cleanup_command',
      ])
      .where('issue.id', '=', of.issueId)
      .where('workspace.isolation', '=', 'worktree'),
  )

/** Lists the worktrees whose issue was closed before a time and has no live run. */
export const listClosedWorktrees = (db: Db, at: { closedBefore: string }): WorktreeRow[] =>
  db.all(
    sql
      .selectFrom('worktree')
      .innerJoin('issue', 'issue.id', 'worktree.issue_id')
      .selectAll('worktree')
      .where('removed_at', 'is', null)
      .where('issue.status', 'in', ['done', 'cancelled'])
      .where(({ fn, eb }) => eb(fn.coalesce('issue.completed_at', 'issue.cancelled_at'), '<', at.closedBefore))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('run')
              .select('run.id')
              .whereRef('run.issue_id', '=', 'worktree.issue_id')
              .where('finished_at', 'is', null),
          ),
        ),
      ),
  )
