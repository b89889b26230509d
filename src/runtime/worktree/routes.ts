import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { wholeNumber } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { getIssue } from '../../work/issue/get.ts'
import { isWorktreeGone, readChanges } from './changes.ts'
import { GitError } from './git.ts'
import { findWorktree } from './queries.ts'

/** In bytes. */
const MAX_PATCH = 1024 * 1024

const IssueChanges = v.strictObject({
  path: v.pipe(v.nullable(v.string()), v.description('The folder of the worktree. Null after it was removed.')),
  branch: v.pipe(v.nullable(v.string()), v.description('The checked-out branch. Null if there is none.')),
  baseCommit: v.pipe(v.nullable(v.string()), v.description('The commit at which the branch of the issue starts.')),
  headCommit: v.nullable(v.string()),
  commits: v.pipe(
    v.array(v.strictObject({ hash: v.string(), subject: v.string(), author: v.string(), committedAt: v.string() })),
    v.description('Newest first, at most 100.'),
  ),
  files: v.pipe(
    v.array(
      v.strictObject({
        path: v.string(),
        insertions: v.pipe(v.nullable(field.integer), v.description('Null for a binary file.')),
        deletions: v.nullable(field.integer),
      }),
    ),
    v.description('At most 1,000.'),
  ),
  filesChanged: field.integer,
  insertions: field.integer,
  deletions: field.integer,
  hasUncommitted: v.pipe(v.boolean(), v.description('Whether the patch contains uncommitted changes.')),
  patch: v.pipe(v.string(), v.description('From `baseCommit` to the working tree, in the format of git.')),
  isCut: v.pipe(
    v.boolean(),
    v.description('Whether commits, files or a part of the patch are missing because of a limit.'),
  ),
})

/** The endpoint that returns the changes of an issue. */
export const worktreeRoutes = [
  route({
    id: 'issues.changes',
    method: 'GET',
    path: '/api/issues/:issueId/changes',
    summary: 'Get the changes in the git worktree of an issue, with commits and patch',
    description:
      'An issue has a worktree from its first run on, if the primary workspace of its project has `isolation: worktree`. Otherwise the fields are empty. The server executes no command that the repository configures.',
    who: [board, agent],
    query: v.object({
      maxPatchBytes: v.optional(
        v.pipe(wholeNumber(0, MAX_PATCH), v.description('The size limit of the patch, in bytes.')),
        String(MAX_PATCH),
      ),
    }),
    responses: { 200: IssueChanges },
    run: (ctx, { caller, params, query }) => changesOf(ctx, getIssue(ctx, caller, params.issueId), query.maxPatchBytes),
  }),
]

const NO_CHANGES = {
  path: null,
  branch: null,
  baseCommit: null,
  headCommit: null,
  commits: [],
  files: [],
  filesChanged: 0,
  insertions: 0,
  deletions: 0,
  hasUncommitted: false,
  patch: '',
  isCut: false,
}

async function changesOf(
  ctx: Context,
  issue: { id: string; identifier: string },
  maxPatch: number,
): Promise<v.InferOutput<typeof IssueChanges>> {
  const worktree = findWorktree(ctx.db, { issueId: issue.id })
  if (!worktree) return NO_CHANGES
  const options = { since: worktree.base_commit, maxCommits: 100, maxFiles: 1_000, maxPatch }
  try {
    const changes = await readChanges(ctx, worktree, options)
    const folder = isWorktreeGone(worktree) ? null : worktree.path
    return { path: folder, baseCommit: worktree.base_commit, ...changes }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new AppError('conflict', `The changes of ${issue.identifier} cannot be read: ${error.message}`)
  }
}
