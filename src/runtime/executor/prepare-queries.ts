import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { WorktreeRow } from '../worktree/queries.ts'

/** Finds the columns of an issue that the prompt contains, and the environment of its project. */
export const findIssueBrief = (db: Db, id: string) =>
  db.first(
    sql
      .selectFrom('issue')
      .leftJoin('project', 'project.id', 'issue.project_id')
      .select([
        'issue.id',
        'identifier',
        'title',
        'project_id',
        'project.name as project_name',
        'project.env as project_env',
      ])
      .where('issue.id', '=', id),
  )

/** The directories of a project's workspaces on this machine. */
export interface ProjectWorkspaces {
  primary: string | null
  /** The directories that the board set or approved. */
  approved: string[]
  /** The worktree of the issue, if it is the primary workspace. */
  worktree: Pick<WorktreeRow, 'path' | 'git_dir' | 'common_dir' | 'branch'> | null
}

/**
 * Finds the workspace directories of a project.
 *
 * @param issueId the issue of the run; if it has a worktree, that replaces the primary workspace
 */
export function findProjectWorkspaces(db: Db, projectId: string, issueId: string): ProjectWorkspaces {
  const rows = db.all(
    sql
      .selectFrom('workspace')
      .select(['cwd', 'cwd_approved', 'is_primary', 'isolation'])
      .where('project_id', '=', projectId),
  )
  const worktree = db.first(
    sql
      .selectFrom('worktree')
      .select(['cwd', 'path', 'git_dir', 'common_dir', 'branch'])
      .where('issue_id', '=', issueId)
      .where('removed_at', 'is', null),
  )
  const primary = rows.find((row) => row.is_primary === 1)
  const approved = rows.flatMap((row) => (row.cwd !== null && row.cwd_approved === 1 ? [row.cwd] : []))
  if (!worktree || primary?.isolation !== 'worktree') return { primary: primary?.cwd ?? null, approved, worktree: null }
  // The server created the worktree, from a repository that the board approved or allowed.
  return { primary: worktree.cwd, approved: [...approved, worktree.cwd], worktree }
}

/** Finds the primary workspace of a project, with its repository. */
export const findPrimaryWorkspace = (db: Db, of: { projectId: string }) =>
  db.first(
    sql
      .selectFrom('workspace')
      .select(['id', 'cwd', 'cwd_approved', 'repo_url', 'repo_ref'])
      .where('project_id', '=', of.projectId)
      .where('is_primary', '=', 1),
  )

export type IssueBrief = NonNullable<ReturnType<typeof findIssueBrief>>

/** Finds the columns of a comment that the prompt contains. */
export const findCommentBrief = (db: Db, id: string) =>
  db.first(
    sql
      .selectFrom('comment')
      .leftJoin('agent', 'agent.id', 'comment.author_agent_id')
      .leftJoin('auth_user', 'auth_user.id', 'comment.author_user_id')
      .select(['comment.id', 'body', 'agent.name as author', 'auth_user.name as person'])
      .where('comment.id', '=', id),
  )

/** Finds the columns of an approval that the prompt contains, and the ids of its issues. */
export function findApprovalBrief(db: Db, id: string) {
  const approval = db.first(
    sql
      .selectFrom('approval')
      .select(['id', 'type', 'status', 'chosen_option as chosenOption', 'decision_note as decisionNote'])
      .select(raw<string | null>`iif(type = 'request_board_approval', payload ->> '$.title', null)`.as('title'))
      .where('id', '=', id),
  )
  if (!approval) return undefined
  const links = db.all(sql.selectFrom('approval_issue').select('issue_id').where('approval_id', '=', id))
  return { ...approval, issueIds: links.map((link) => link.issue_id) }
}
