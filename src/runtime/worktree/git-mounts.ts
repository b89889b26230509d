import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { WorktreeRow } from './queries.ts'

/** The paths that git needs in a sandbox, by the access that a run gets to them. */
export interface GitMounts {
  readable: readonly string[]
  writable: readonly string[]
  /** Paths inside the writable folders that the run may only read. */
  guarded: readonly string[]
}

type Worktree = Pick<WorktreeRow, 'path' | 'git_dir' | 'common_dir' | 'branch'>

/**
 * Returns the paths with which git can commit in a worktree, without giving the
 * run anything of the repository that git executes: the configuration and the
 * hooks are read-only, and so are the files that tell git where these are. The
 * run may add objects, and change the branches beside its own (`service/*`).
 */
export function gitMountsOf({ path: folder, git_dir, common_dir, branch }: Worktree): GitMounts {
  const objects = path.join(common_dir, 'objects')
  return {
    readable: [common_dir],
    writable: [folder, git_dir, objects, ...branchFolders({ common_dir, branch })],
    guarded: [
      path.join(folder, '.git'),
      ...['commondir', 'gitdir', CONFIG].map((name) => path.join(git_dir, name)),
      ...objectFolders(common_dir),
    ],
  }
}

/** Creates the paths of `gitMountsOf` that git creates only when it needs them. */
export async function makeGitMounts(worktree: Worktree): Promise<void> {
  const folders = [...branchFolders(worktree), ...objectFolders(worktree.common_dir)]
  for (const folder of folders) await mkdir(folder, { recursive: true })
  await writeFile(path.join(worktree.git_dir, CONFIG), '', { flag: 'a' })
}

/** The configuration of one worktree. Git reads it if the repository has `extensions.worktreeConfig`. */
const CONFIG = 'config.worktree'

/** Packed objects, and the files that name further folders of objects. */
const objectFolders = (commonDir: string) => ['pack', 'info'].map((name) => path.join(commonDir, 'objects', name))

const branchFolders = ({ common_dir, branch }: Pick<Worktree, 'common_dir' | 'branch'>) =>
  ['refs/heads', 'logs/refs/heads'].map((name) => path.join(common_dir, name, path.dirname(branch)))
