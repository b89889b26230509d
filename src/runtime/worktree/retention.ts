import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import { isInside, realPath } from '../../platform/real-path.ts'
import { findBubblewrap } from '../isolation/bubblewrap.ts'
import { sandboxEnv } from '../isolation/sandbox.ts'
import { killGroup } from '../process/kill-group.ts'
import { readChanges, searchPathOf } from './changes.ts'
import { cleanupSandbox, isConfined } from './confinement.ts'
import { runGit } from './git.ts'
import { listClosedWorktrees, updateWorktree, type WorktreeRow } from './queries.ts'

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
    return (await readChanges(ctx, worktree, options)).hasUncommitted
  } catch (error) {
    ctx.log.warn('A worktree cannot be read, so it is kept.', { path: worktree.path, error: String(error) })
    return true
  }
}

/** Removes a worktree after its clean-up command. Returns false if the removal was aborted, or the command has no sandbox. */
async function removeWorktree(ctx: Context, worktree: WorktreeRow, signal?: AbortSignal): Promise<boolean> {
  if (!(await cleanUp(ctx, worktree, signal)) || signal?.aborted) return false
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

/**
 * Runs the clean-up command of the workspace in the worktree. If sandboxed runs
 * worked there, the command is sandboxed too: they could have written what it
 * executes. The worktree is removed even if the command fails.
 *
 * @returns false if the command needs a sandbox that does not work
 */
async function cleanUp(ctx: Context, worktree: WorktreeRow, signal?: AbortSignal): Promise<boolean> {
  const workspace = ctx.db.first(
    sql.selectFrom('workspace').select(['cleanup_command', 'cwd_approved']).where('id', '=', worktree.workspace_id),
  )
  if (!workspace?.cleanup_command || workspace.cwd_approved === 0 || !existsSync(worktree.cwd)) return true
  const warn = (message: string, details: object = {}) => ctx.log.warn(message, { path: worktree.path, ...details })
  if (!isInside(worktree.path, await realPath(worktree.cwd))) {
    warn('The clean-up command of a workspace is omitted: a run replaced its folder by a link.')
    return true
  }
  const wrapper = await wrapperOf(ctx, worktree)
  if ('missing' in wrapper) {
    warn(`A worktree is kept: its clean-up command needs a sandbox. ${wrapper.missing} ${wrapper.hint}`)
    return false
  }
  const [program, ...args] = [...wrapper.argv, '/bin/sh', '-c', workspace.cleanup_command]
  const options = { cwd: worktree.cwd, env: wrapper.env, stdio: 'ignore', detached: true } as const
  const child = spawn(program!, args, options)
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
  const what = isLate ? 'exceeded 60 s' : 'failed'
  if (code !== 0) warn(`The clean-up command of a workspace ${what}.`, { code: String(code) })
  return true
}

/** Returns the sandbox of the clean-up command, if it needs one, or the reason why there is none. */
async function wrapperOf(ctx: Context, worktree: WorktreeRow) {
  const { environment } = ctx.config
  if (!isConfined(ctx, worktree)) return { argv: [], env: environment }
  const found = await findBubblewrap(searchPathOf(ctx))
  return 'missing' in found ? found : { argv: cleanupSandbox(ctx, found, worktree), env: sandboxEnv(environment) }
}
