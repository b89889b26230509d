import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { resolveAgentPath } from '../../organization/agent/allowed-folder.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import type { RunChanges, RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { NotStartable } from '../not-startable.ts'
import type { RunSpec } from '../process/run-files.ts'
import { readChanges, searchPathOf } from './changes.ts'
import { findRepository, GitError, type Repository, runGit, withOwnGitDir, withoutNamedHooks } from './git.ts'
import { findIsolatingWorkspace, findWorktree, putWorktree, type WorktreeRow } from './queries.ts'

/** The worktree of a run's issue, ready to work in. */
export interface OpenWorktree {
  row: WorktreeRow
  /** The commit that is checked out at the start of the run. */
  head: string
  /** The set-up command if it has not succeeded yet, or null. */
  setupCommand: string | null
}

/** The worktrees in which the runs of a server work. */
export interface Worktrees {
  /**
   * Opens the worktree of a run's issue, and creates it at the first run.
   * Returns null if the issue's project does not isolate its issues.
   *
   * @throws NotStartable if the worktree cannot be created
   */
  open(run: RunRow): Promise<OpenWorktree | null>
  /** Reads the changes of a run in its worktree. Returns null if it has none or git fails. */
  changesOf(run: RunRow): Promise<RunChanges | null>
}

/** The exit code of a run whose set-up command failed. */
export const SETUP_FAILED = 97

/** The number of commits that a run stores. The branch contains all of them. */
const KEPT_COMMITS = 20

/** Creates the access to the worktrees of a server. */
export function createWorktrees(ctx: Context): Worktrees {
  /** By issue id. Two runs that start at the same time share one creation. */
  const creating = new Map<string, Promise<WorktreeRow | null>>()

  function find(run: RunRow, issueId: string): Promise<WorktreeRow | null> {
    const started = creating.get(issueId) ?? ensureWorktree(ctx, run, issueId).finally(() => creating.delete(issueId))
    creating.set(issueId, started)
    return started
  }

  return {
    async open(run) {
      if (run.issue_id === null) return null
      const row = await find(run, run.issue_id)
      if (!row) return null
      const workspace = findIsolatingWorkspace(ctx.db, { issueId: run.issue_id })
      const isToSetUp = row.is_set_up === 0 && workspace?.cwd_approved === 1
      const head = await headOf(ctx, row)
      return { row, head, setupCommand: isToSetUp ? (workspace.setup_command ?? null) : null }
    },
    async changesOf(run) {
      const row =
        run.git_head === null || run.issue_id === null ? undefined : findWorktree(ctx.db, { issueId: run.issue_id })
      if (!row) return null
      try {
        const options = { since: run.git_head!, maxCommits: KEPT_COMMITS, maxFiles: 0, maxPatch: 0 }
        const changes = await readChanges(ctx, row, options)
        const { branch, headCommit, commits, filesChanged, insertions, deletions, hasUncommitted } = changes
        return { branch, headCommit, commits, filesChanged, insertions, deletions, hasUncommitted }
      } catch (error) {
        ctx.log.warn('The changes of a run cannot be read.', { runId: run.id, error: String(error) })
        return null
      }
    },
  }
}

async function headOf(ctx: Context, row: WorktreeRow): Promise<string> {
  const { text } = await runGit([`--git-dir=${row.git_dir}`, 'rev-parse', '--verify', 'HEAD^{commit}'], {
    searchPath: searchPathOf(ctx),
    cwd: row.path,
  }).catch((error) =>
    fail(`The worktree ${row.path} is damaged: ${error.message}. Close the issue or remove the folder.`),
  )
  return text.trim()
}

/** Adds the set-up command before the program of a run. The limits and the log of the run apply to both. */
export function withSetup(spec: RunSpec, setupCommand: string): RunSpec {
  return { ...spec, command: '/bin/sh', args: ['-c', SETUP, 'sh', setupCommand, spec.command, ...spec.args] }
}

/** The output of the set-up command goes to standard error, because the adapter parses standard output. */
const SETUP = `setup=$1; shift; /bin/sh -c "$setup" </dev/null >&2 || exit ${SETUP_FAILED}; exec "$@"`

async function ensureWorktree(ctx: Context, run: RunRow, issueId: string): Promise<WorktreeRow | null> {
  const workspace = findIsolatingWorkspace(ctx.db, { issueId })
  const existing = findWorktree(ctx.db, { issueId })
  if (!workspace) return null
  // A person may have removed the folder. The branch still has the commits.
  if (existing && existing.removed_at === null && existsSync(existing.path)) return existing
  const cwd = workspace.cwd
  if (cwd === null) fail(`The workspace ${workspace.name} has no cwd, so there is no repository for a worktree.`)
  if (workspace.cwd_approved === 0 && !(await isAllowed(ctx, run, cwd))) return null // the choice of the working directory refuses the folder
  try {
    return await createWorktree(ctx, issueId, { ...workspace, cwd }, existing)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return fail(`The git worktree that the workspace ${workspace.name} requires cannot be created: ${error.message}`)
  }
}

async function isAllowed(ctx: Context, run: RunRow, cwd: string): Promise<boolean> {
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  return (await resolveAgentPath(ctx, agent, cwd, [])).access === 'allowed'
}

type IsolatingWorkspace = Omit<NonNullable<ReturnType<typeof findIsolatingWorkspace>>, 'cwd'> & { cwd: string }

async function createWorktree(
  ctx: Context,
  issueId: string,
  workspace: IsolatingWorkspace,
  removed: WorktreeRow | undefined,
): Promise<WorktreeRow> {
  const searchPath = searchPathOf(ctx)
  const repository = await findRepository(searchPath, workspace.cwd)
  const env = await withoutNamedHooks(searchPath, repository.topFolder)
  const git = (...args: string[]) => runGit(args, { searchPath, cwd: repository.topFolder, env, timeoutMs: 60_000 })
  const commitOf = (name: string) =>
    git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).then(
      ({ text }) => text.trim(),
      () => undefined,
    )
  const branch = `service/${workspace.identifier.toLowerCase()}`
  const existing = await commitOf(`refs/heads/${branch}`)
  const base = await baseCommit(workspace, commitOf)
  const folder = path.join(ctx.config.dataDir, 'worktrees', workspace.identifier.toLowerCase())
  // Removes the remains of a server that died during the creation.
  await rm(folder, { recursive: true, force: true })
  await git('worktree', 'prune')
  await mkdir(path.dirname(folder), { recursive: true, mode: 0o700 })
  await git('worktree', 'add', '--no-checkout', ...(existing ? [folder, branch] : ['-b', branch, folder, base]))
  const { gitDir } = await findRepository(searchPath, folder)
  await checkOut(searchPath, { ...repository, gitDir }, folder, existing ?? base)
  const row = {
    issue_id: issueId,
    company_id: workspace.company_id,
    workspace_id: workspace.id,
    path: folder,
    cwd: path.join(folder, repository.prefix),
    git_dir: gitDir,
    common_dir: repository.commonDir,
    object_format: repository.objectFormat,
    branch,
    base_commit: removed?.base_commit ?? base,
    is_set_up: 0 as const,
    is_sandboxed: removed?.is_sandboxed ?? (0 as const),
    created_at: ctx.now,
    removed_at: null,
  }
  await ctx.write(() => putWorktree(ctx.db, row))
  return row
}

/** Returns the commit at which the branch of an issue starts: `repoRef`, local or remote, or by default the checked-out commit. */
async function baseCommit(
  { name, repo_ref }: IsolatingWorkspace,
  commitOf: (name: string) => Promise<string | undefined>,
): Promise<string> {
  const base =
    repo_ref === null
      ? await commitOf('HEAD')
      : ((await commitOf(repo_ref)) ?? (await commitOf(`refs/remotes/origin/${repo_ref}`)))
  return base ?? fail(`The repository of the workspace ${name} has no commit ${repo_ref ?? 'yet'}.`)
}

/** Writes the files of a commit. It runs no filter of the repository, such as git-lfs: the set-up command may do that. */
async function checkOut(searchPath: string, repository: Repository, folder: string, commit: string): Promise<void> {
  await withOwnGitDir(searchPath, repository, folder, (git) =>
    git(['read-tree', '-u', '--reset', commit], {
      env: { GIT_INDEX_FILE: path.join(repository.gitDir, 'index') },
      timeoutMs: 120_000,
    }),
  )
}

function fail(message: string): never {
  throw new NotStartable('worktree_failed', message)
}
