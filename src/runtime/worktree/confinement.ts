import type { Context } from '../../platform/context.ts'
import type { WorkingBubblewrap } from '../isolation/bubblewrap.ts'
import { writeKeyringFilter } from '../isolation/keyring-filter.ts'
import { findProgramFiles } from '../isolation/program-files.ts'
import { commandSandboxArgv, sandboxEnv } from '../isolation/sandbox.ts'
import { gitMountsOf } from './git-mounts.ts'
import type { WorktreeRow } from './queries.ts'

/** Whether the server runs its own commands in a worktree only in a sandbox, because sandboxed runs write its files. */
export const isConfined = (ctx: Context, worktree: Pick<WorktreeRow, 'is_sandboxed'>): boolean =>
  worktree.is_sandboxed === 1 || ctx.config.sandbox !== 'off'

type Bwrap = Pick<WorkingBubblewrap, 'path'>

/** Returns the wrapper of the clean-up command: it gets what a run in the worktree gets, except for sign-ins, sessions and skills. */
export function cleanupSandbox(ctx: Context, bwrap: Bwrap, worktree: WorktreeRow): string[] {
  const git = gitMountsOf(worktree)
  const env = sandboxEnv(ctx.config.environment)
  return commandSandboxArgv(bwrap, {
    dataDir: ctx.config.dataDir,
    cwd: worktree.cwd,
    ...git,
    programFiles: findProgramFiles(['sh', 'node'], env.PATH ?? '', env.HOME ?? '/nonexistent').files,
    filter: writeKeyringFilter(ctx.config.dataDir),
    env,
    hasNetwork: true,
  })
}

/**
 * Returns the function that wraps git when it reads a worktree. Without the
 * sandbox, a run could replace a folder by a link while git opens a file, and
 * so read a file of the user in the changes of its issue.
 */
export const readerSandbox =
  (ctx: Context, bwrap: Bwrap, worktree: Pick<WorktreeRow, 'path' | 'git_dir' | 'common_dir'>) =>
  (cwd: string, writable: readonly string[]): string[] =>
    commandSandboxArgv(bwrap, {
      dataDir: ctx.config.dataDir,
      cwd,
      readable: [worktree.path, worktree.git_dir, worktree.common_dir],
      writable,
      guarded: [],
      programFiles: findProgramFiles(['git'], ctx.config.environment.PATH ?? '', '/nonexistent').files,
      filter: writeKeyringFilter(ctx.config.dataDir),
      env: {},
      hasNetwork: false,
    })
