import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import { killGroup } from '../process/kill-group.ts'
import { readChanges } from './changes.ts'
import { runGit } from './git.ts'
import { listClosedWorktrees, updateWorktree, type WorktreeRow } from './queries.ts'
import { searchPathOf } from './worktrees.ts'

const CLEANUP_MS = 60_000

/**
 * Removes the worktrees of issues that were closed before a time, if the issue
 * has no live run and the worktree has no uncommitted changes. The branch
 * remains in the repository.
 *
 * @returns the number of removed worktrees, and the ids of the issues whose worktree has uncommitted changes
 */
export async function removeClosedWorktrees(
  ctx: Context,
  { closedBefore, signal }: { closedBefore: string; signal?: AbortSignal },
): Promise<{ removed: number; kept: string[] }> {
  const stored: string[] = []
  let removed = 0
  for (const worktree of listClosedWorktrees(ctx.db, { closedBefore })) {
    if (signal?.aborted) break
    // The database of a copied data directory names folders of the original.
    if (!worktree.path.startsWith(path.join(ctx.config.dataDir, 'worktrees', path.sep))) continue
    if (await hasUncommitted(ctx, worktree)) stored.push(worktree.issue_id)
    else {
      if (await removeWorktree(ctx, worktree, signal)) removed++
    }
  }
  return { removed, kept: stored }
}

/** Whether the worktree has uncommitted changes. Returns true if it cannot be read, which keeps it. */
async function hasUncommitted(ctx: Context, worktree: WorktreeRow): Promise<boolean> {
  const options = { since: worktree.base_commit, maxCommits: 0, maxFiles: 0, maxPatch: 0 }
  try {
    return (await readChanges(worktree, { searchPath: searchPathOf(ctx), ...options })).hasUncommitted
  } catch (error) {
    ctx.log.warn('A worktree cannot be read, so it is kept.', { path: worktree.path, error: String(error) })
    return true
  }
}

/** Removes a worktree after its clean-up command. Returns false if the removal was aborted. */
async function removeWorktree(ctx: Context, worktree: WorktreeRow, signal?: AbortSignal): Promise<boolean> {
  await cleanUp(ctx, worktree, signal)
  if (signal?.aborted) return false
  await rm(worktree.path, { recursive: true, force: true })
  const git = { searchPath: searchPathOf(ctx), cwd: worktree.common_dir }
  await runGit([`--git-dir=${worktree.common_dir}`, 'worktree', 'prune'], git).catch((error) =>
    ctx.log.warn('The entry of a removed worktree could not be deleted from its repository.', {
      path: worktree.path,
      error: String(error),
    }),
  )
  await ctx.write(() => updateWorktree(ctx.db, worktree.issue_id, { removed_at: ctx.now }))
  return true
}

/** Runs the clean-up command of the workspace in the worktree. The worktree is removed even if the command fails. */
async function cleanUp(ctx: Context, worktree: WorktreeRow, signal?: AbortSignal): Promise<void> {
  const workspace = ctx.db.first(
    sql.selectFrom('workspace').select(['cleanup_command', 'cwd_approved']).where('id', '=', worktree.workspace_id),
  )
  if (!workspace?.cleanup_command || workspace.cwd_approved === 0 || !existsSync(worktree.path)) return
  const options = { cwd: worktree.cwd, env: ctx.config.environment, stdio: 'ignore', detached: true } as const
  const child = spawn('/bin/sh', ['-c', workspace.cleanup_command], options)
  const kill = () => killGroup(child.pid)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, CLEANUP_MS)
  signal?.addEventListener('abort', kill)
  const [code] = await once(child, 'exit').catch((error) => [error])
  clearTimeout(timer)
  signal?.removeEventListener('abort', kill)
  killGroup(child.pid) // the processes that the command left behind
  if (code !== 0)
    ctx.log.warn(
      isLate ? 'The clean-up command of a workspace exceeded 60 s.' : 'The clean-up command of a workspace failed.',
      { path: worktree.path, code: String(code) },
    )
}
