import { existsSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import { findBwrap } from '../isolation/bubblewrap.ts'
import { isConfined, readerSandbox } from './confinement.ts'
import { copyIfFile, GitError, type OwnGit, runGit, type Wrap, withOwnGitDir } from './git.ts'
import type { WorktreeRow } from './queries.ts'

/** The differences between a commit and the current state of a worktree, including uncommitted changes. */
export interface Changes {
  branch: string | null
  headCommit: string
  commits: { hash: string; subject: string; author: string; committedAt: string }[]
  files: { path: string; insertions: number | null; deletions: number | null }[]
  filesChanged: number
  insertions: number
  deletions: number
  /** Whether the working tree has uncommitted changes. */
  hasUncommitted: boolean
  patch: string
  /** Whether commits, files or a part of the patch are missing because of a limit. */
  isCut: boolean
}

export interface ChangesOptions {
  /** The commit to compare with. */
  since: string
  maxCommits: number
  maxFiles: number
  /** In bytes; 0 for no patch. */
  maxPatch: number
}

/** The size limit of an untracked file, in bytes. Reading larger ones would take longer than a response may. */
const LARGEST_UNTRACKED = 5 * 1024 * 1024
const MOST_UNTRACKED = 5_000

/**
 * Compares a worktree with a commit, without executing any command that the
 * repository configures. If the worktree was removed, it compares the branch.
 *
 * @throws GitError if git fails
 */
export async function readChanges(ctx: Context, worktree: WorktreeRow, options: ChangesOptions): Promise<Changes> {
  const { since, maxCommits, maxFiles, maxPatch } = options
  const searchPath = searchPathOf(ctx)
  const wrap = wrapOf(ctx, worktree)
  const isRemoved = isWorktreeGone(worktree)
  const own = { commonDir: worktree.common_dir, objectFormat: worktree.object_format }
  const tree = isRemoved ? worktree.common_dir : worktree.path
  const refs = (args: string[]) =>
    runGit([`--git-dir=${isRemoved ? worktree.common_dir : worktree.git_dir}`, ...args], {
      searchPath,
      cwd: tree,
      wrapper: wrap(tree, []),
    })
  const headName = isRemoved ? `refs/heads/${worktree.branch}` : 'HEAD'
  const { text } = await refs(['rev-parse', '--verify', '--quiet', `${headName}^{commit}`]).catch((error) => {
    const isMissing = isRemoved && /^git exited/.test(error.message)
    throw isMissing ? new GitError(`its branch ${worktree.branch} was deleted`) : error
  })
  const head = text.trim()
  const branch = isRemoved ? worktree.branch : await currentBranch(refs)

  const compare = async (git: OwnGit, gitDir: string) => {
    const hasUncommitted = !isRemoved && (await addWorkingTree(git, { gitDir, worktree, head }))
    // The index now contains the working tree. A removed worktree has only its commit.
    const compared = isRemoved ? ['diff-tree', '-r', since, head] : ['diff-index', '--cached', since]
    const diff = (format: string[], maxBytes: number) =>
      git([compared[0]!, ...DIFF, ...format, ...compared.slice(1)], { maxBytes })
    const log = await git([
      'log',
      '-z',
      `--max-count=${maxCommits + 1}`,
      '--format=%H%x1f%s%x1f%an%x1f%cI',
      `${since}..${head}`,
    ])
    const commits = log.text.split('\0').filter(Boolean).map(toCommit)
    const stat = await diff(['--numstat', '-z'], LARGEST_STAT)
    const lines = stat.text.split('\0')
    // After the last separator there is nothing, or a line that the limit cut.
    const files = lines.slice(0, -1).map(toFile)
    const patch = maxPatch === 0 ? { text: '', isCut: false } : await diff(['--patch'], maxPatch)
    return {
      branch,
      headCommit: head,
      commits: commits.slice(0, maxCommits),
      files: files.slice(0, maxFiles),
      filesChanged: files.length,
      insertions: sum(files.map((file) => file.insertions)),
      deletions: sum(files.map((file) => file.deletions)),
      hasUncommitted,
      patch: patch.text,
      isCut: commits.length > maxCommits || files.length > maxFiles || patch.isCut || stat.isCut || log.isCut,
    }
  }
  return withOwnGitDir(searchPath, own, tree, compare, wrap)
}

export const searchPathOf = (ctx: Context) => ctx.config.environment.PATH ?? ''

/** Returns how git is isolated in a worktree. */
function wrapOf(ctx: Context, worktree: WorktreeRow): Wrap {
  if (!isConfined(ctx, worktree)) return () => []
  const bwrap = findBwrap(searchPathOf(ctx))
  if (bwrap === null) throw new GitError('its runs are sandboxed, and the program bwrap was not found')
  return readerSandbox(ctx, { path: bwrap }, worktree)
}

/** Whether the server or a person removed the folder of a worktree. */
export const isWorktreeGone = (worktree: Pick<WorktreeRow, 'path' | 'removed_at'>): boolean =>
  worktree.removed_at !== null || !existsSync(worktree.path)

/** In bytes: some 40,000 files. Parsing more would delay other requests. */
const LARGEST_STAT = 2 * 1024 * 1024

const DIFF = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-renames',
  '--ignore-submodules=dirty',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

/** Returns the checked-out branch, or null for a detached HEAD. */
const currentBranch = (git: (args: string[]) => Promise<{ text: string }>): Promise<string | null> =>
  git(['symbolic-ref', '--quiet', '--short', 'HEAD']).then(
    ({ text }) => text.trim(),
    () => null,
  )

/**
 * Adds the working tree to the index of the temporary git directory. It avoids
 * `git add` and `git status`, which start git in the folder of each submodule
 * and so apply the configuration there.
 *
 * @returns whether the working tree differs from `head`
 */
async function addWorkingTree(
  git: OwnGit,
  { gitDir, worktree, head }: { gitDir: string; worktree: Pick<WorktreeRow, 'path' | 'git_dir'>; head: string },
): Promise<boolean> {
  // The agent's index contains the modification times, which saves reading all files again.
  await copyIfFile(path.join(worktree.git_dir, 'index'), path.join(gitDir, 'index'))
  await git(['read-tree', '--reset', head])
  const tracked = await git(['diff-files', '--name-only', '-z', '--ignore-submodules=all'])
  const untracked = await git(['ls-files', '--others', '--exclude-standard', '-z'])
  const added: string[] = []
  for (const name of untracked.text.split('\0').slice(0, MOST_UNTRACKED)) {
    // A name that ends with a slash is another repository.
    if (name === '' || name.endsWith('/')) continue
    const found = await lstat(path.join(worktree.path, name)).catch(() => undefined)
    if (found && (found.isFile() || found.isSymbolicLink()) && found.size <= LARGEST_UNTRACKED) added.push(name)
  }
  const changed = [...tracked.text.split('\0').filter(Boolean), ...added]
  if (changed.length === 0) return false
  await git(['update-index', '--add', '--remove', '-z', '--stdin'], { input: `${changed.join('\0')}\0` })
  return true
}

function toCommit(line: string): Changes['commits'][number] {
  const [hash = '', subject = '', author = '', committedAt = ''] = line.split('\x1f')
  return { hash, subject: subject.slice(0, 500), author: author.slice(0, 200), committedAt }
}

/** A line is `insertions TAB deletions TAB path`, with dashes for a binary file. */
function toFile(line: string): Changes['files'][number] {
  const [insertions, deletions, ...name] = line.split('\t')
  return { path: name.join('\t'), insertions: toNumber(insertions), deletions: toNumber(deletions) }
}

const toNumber = (text: string | undefined) => (text === undefined || text === '-' ? null : Number(text))

const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
