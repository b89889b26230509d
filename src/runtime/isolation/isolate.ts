import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Adapter, UserFiles } from '../../adapter/adapter.ts'
import type { SandboxMode } from '../../adapter/config.ts'
import { adapterOf } from '../../adapter/registry.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { ownFolder, resolveAgentPath } from '../../organization/agent/allowed-folder.ts'
import { unapprovedPaths } from '../../organization/agent/approved-config.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { isInside, realPath } from '../../platform/real-path.ts'
import type { Refuse } from '../not-startable.ts'
import type { CheckedPath } from '../process/checked-path.ts'
import type { RunSpec } from '../process/run-files.ts'
import { gitMountsOf, makeGitMounts } from '../worktree/git-mounts.ts'
import type { WorktreeRow } from '../worktree/queries.ts'
import type { Isolation } from './isolation.ts'
import { writeKeyringFilter } from './keyring-filter.ts'
import { isLinkOfRun } from './link-of-run.ts'
import { findProgramFiles, type ProgramFiles } from './program-files.ts'
import {
  commandSandboxArgv,
  containsHome,
  copyOf,
  type Sandbox,
  sandboxArgv,
  sandboxEnv,
  stateFolder,
} from './sandbox.ts'

type Worktree = Pick<WorktreeRow, 'path' | 'git_dir' | 'common_dir' | 'branch'>

/** The run to isolate. */
export interface ToIsolate {
  agent: AgentRow
  adapter: Adapter
  config: Record<string, unknown>
  spec: RunSpec
  /** Files and folders that the run reads, besides the system: skills, instructions. */
  readable: readonly string[]
  /** Folders that the run writes, besides its working directory and the agent's own folder. */
  writable: readonly string[]
  /** Folders that the board allowed. A link that a run made may lead only there. */
  allowed: readonly string[]
  /** The worktree in which the run works. */
  worktree: Worktree | null
}

/**
 * Adds the isolation to a run's specification: a sandbox if the agent's mode
 * requires one, otherwise a PID namespace if the machine supports it. A run
 * that requires a sandbox never starts without it.
 *
 * @param refuse receives the reason why the sandbox cannot be created
 */
export async function isolate(ctx: Context, isolation: Isolation, run: ToIsolate, refuse: Refuse): Promise<RunSpec> {
  const { spec } = run
  if (sandboxModeOf(ctx, run) === 'off') {
    const wrapper = ctx.config.pidNamespace ? await isolation.pidNamespace() : null
    return { ...spec, wrapper: wrapper ?? [] }
  }
  const found = await isolation.bubblewrap()
  if ('missing' in found) {
    refuse('sandbox_unavailable', `The sandbox of this run is not available. ${found.missing} ${found.hint}`)
    return spec
  }
  const programs = programFilesOf(spec.command, sandboxEnv(spec.env))
  const sandbox = sandboxOf(ctx, run, programs)
  if (containsHome(spec.cwd, sandbox.env)) {
    const message = `The working directory ${spec.cwd} contains your home directory, which a sandboxed run must not read.`
    refuse('sandbox_folder', `${message} Set adapterConfig.cwd to a folder inside it.`)
  }
  await checkDataDir(ctx, sandbox.writable, refuse)
  await checkPrograms(ctx, run, programs, refuse)
  if (run.worktree) await checkRepository(ctx, run, run.worktree, refuse)
  const { stateDir } = sandbox
  const { argv, opens } = sandboxArgv(found, sandbox)
  return {
    ...spec,
    wrapper: argv,
    opens: await checkPaths(ctx, run, opens, refuse),
    // The sandbox binds the directory by its file descriptor.
    realCwd: null,
    env: sandbox.env as Record<string, string>,
    // Outside the sandbox, the sessions of the program are in its state folder.
    reader: {
      ...spec.reader,
      env: { ...sandbox.env, CODEX_HOME: stateDir, CLAUDE_CONFIG_DIR: stateDir, SANDBOX_STATE_DIR: stateDir },
    },
  }
}

/**
 * Returns what isolates a program while the server reads its options: runs may
 * have written the program, or a file that it loads. Returns undefined if the
 * sandbox does not work.
 */
export async function isolateProbe(
  ctx: Context,
  isolation: Isolation,
  run: Pick<ToIsolate, 'agent' | 'adapter' | 'config'> & { cwd: string },
): Promise<((program: string) => readonly string[]) | undefined> {
  if (sandboxModeOf(ctx, run) === 'off') return () => []
  const found = await isolation.bubblewrap()
  if ('missing' in found) return undefined
  const env = sandboxEnv(ctx.config.environment)
  const cwd = containsHome(run.cwd, env) ? [] : [run.cwd]
  return (program) =>
    commandSandboxArgv(found, {
      dataDir: ctx.config.dataDir,
      cwd: '/',
      readable: [...cwd, ...SERVER_FILES],
      writable: [],
      guarded: [],
      programFiles: programFilesOf(program, env).files,
      filter: writeKeyringFilter(ctx.config.dataDir),
      env,
      hasNetwork: false,
    })
}

/**
 * Returns the real path of each path that the sandbox binds. Refuses one that
 * leads through a link which a run may have made.
 */
async function checkPaths(
  ctx: Context,
  { agent, spec, allowed }: ToIsolate,
  paths: readonly string[],
  refuse: Refuse,
): Promise<CheckedPath[]> {
  const checked: CheckedPath[] = []
  for (const file of paths) {
    const real = file === spec.cwd && spec.realCwd !== null ? spec.realCwd : await realPath(file)
    checked.push({ path: file, real })
    if (await isLinkOfRun(ctx, agent, { wanted: file, opened: real }, allowed)) {
      refuse('sandbox_folder', `${file} is a link to ${real}, which a run may have made. Replace the link by a folder.`)
    }
  }
  return checked
}

/**
 * Refuses a writable folder that contains the data directory. A run could rename
 * a folder between the two, and put another data directory in its place.
 */
async function checkDataDir(ctx: Context, writable: readonly string[], refuse: Refuse): Promise<void> {
  const dataDir = await realPath(ctx.config.dataDir)
  for (const folder of writable) {
    if (isInside(await realPath(folder), dataDir)) {
      refuse('sandbox_folder', `${folder} contains the data directory of the server. Choose another folder.`)
    }
  }
}

/** Refuses a program that is found through a link which a run may have made: the sandbox would show the link's target. */
async function checkPrograms(
  ctx: Context,
  { agent, allowed }: Pick<ToIsolate, 'agent' | 'allowed'>,
  { chains }: ProgramFiles,
  refuse: Refuse,
): Promise<void> {
  for (const [wanted, ...targets] of chains) {
    for (const target of [wanted!, ...targets]) {
      const opened = path.join(await realPath(path.dirname(target)), path.basename(target))
      if (await isLinkOfRun(ctx, agent, { wanted: wanted!, opened }, allowed)) {
        refuse(
          'sandbox_folder',
          `The program ${wanted} is a link to ${target}, which a run may have made. Name the program itself.`,
        )
      }
    }
  }
}

/**
 * Refuses a repository outside the folder of its workspace, unless the board
 * allowed it: a run that works in the workspace itself can write which
 * repository it belongs to.
 */
async function checkRepository(
  ctx: Context,
  { agent, allowed }: Pick<ToIsolate, 'agent' | 'allowed'>,
  worktree: Worktree,
  refuse: Refuse,
): Promise<void> {
  const { common_dir } = worktree
  const workspaces = allowed.filter((folder) => !isInside(worktree.path, folder))
  const top = await realPath(path.dirname(common_dir))
  if ((await Promise.all(workspaces.map(realPath))).some((folder) => isInside(top, folder))) return
  if ((await resolveAgentPath(ctx, agent, common_dir, workspaces)).access === 'allowed') return
  refuse(
    'sandbox_folder',
    `The repository of the worktree is ${common_dir}, outside the workspace of the project. If that is correct, allow the folder: allowedFolders of the company.`,
  )
}

/** Whether a run is sandboxed: only then its files are elsewhere for its reader. */
export const isSandboxed = (spec: RunSpec): boolean => spec.reader.env !== undefined

/** Creates the folders, and the copies of settings, that must exist before a sandboxed run starts. */
export async function makeSandboxFolders(
  ctx: Context,
  run: Pick<RunRow, 'agent_id' | 'adapter_type'>,
  { spec, worktree }: { spec: RunSpec; worktree: Worktree | null },
): Promise<void> {
  if (!isSandboxed(spec)) return
  const { sessions, settings = [] } = adapterOf(run.adapter_type)?.userFiles?.(spec.env) ?? NO_FILES
  const stateDir = stateDirOf(ctx, run.agent_id)
  const folders = sessions.map((folder) => stateFolder(stateDir, folder))
  for (const folder of [ownFolder(ctx, run.agent_id), ...folders]) await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const file of settings) {
    // Without the file, the program begins with settings of its own.
    await copyFile(file, copyOf(stateDir, file)).catch(() => {})
  }
  if (worktree) await makeGitMounts(worktree)
}

/**
 * Returns the sandbox mode of a run: the agent's setting, or that of the
 * instance. A setting that the board has not approved applies only if it is stricter.
 */
export function sandboxModeOf(
  ctx: Context,
  { agent, adapter, config }: Pick<ToIsolate, 'agent' | 'adapter' | 'config'>,
) {
  if (!adapter.startsProgram) return 'off'
  const own = config.sandbox as SandboxMode | undefined
  const counts = own === 'bubblewrap' || (own !== undefined && isApproved(agent))
  return counts ? own : ctx.config.sandbox
}

const isApproved = (agent: AgentRow) => agent.config_approved === 1 && !unapprovedPaths(agent).includes('sandbox')

/** The demo agent is part of the package and runs on the server's own Node. */
const SERVER_FILES = [packageRoot(), path.dirname(process.execPath)]

const NO_MOUNTS = { readable: [], writable: [], guarded: [] }

const NO_FILES: UserFiles = { login: [], sessions: [] }

const stateDirOf = (ctx: Context, agentId: string) => path.join(ctx.config.dataDir, 'sandbox', agentId)

/** `node` is included because most agent programs run on it. */
const programFilesOf = (command: string, env: Readonly<Record<string, string>>) =>
  findProgramFiles([command, 'node'], env.PATH ?? '', env.HOME ?? '/nonexistent')

function sandboxOf(ctx: Context, run: ToIsolate, programs: ProgramFiles): Sandbox {
  const { agent, adapter, spec, readable, writable } = run
  const git = run.worktree ? gitMountsOf(run.worktree) : NO_MOUNTS
  const userFiles = adapter.userFiles?.(sandboxEnv(spec.env)) ?? NO_FILES
  const env = { ...sandboxEnv(spec.env), ...userFiles.variables }
  const certificates = [env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE, env.SSL_CERT_DIR].filter(
    (file) => file !== undefined,
  )
  return {
    dataDir: ctx.config.dataDir,
    stateDir: stateDirOf(ctx, agent.id),
    cwd: spec.cwd,
    writable: [
      ...[spec.cwd, ownFolder(ctx, agent.id), ...git.writable],
      ...writable.filter((folder) => !containsHome(folder, env)),
    ],
    guarded: git.guarded,
    readable: [...readable, ...git.readable, ...certificates, ...SERVER_FILES],
    programFiles: programs.files,
    filter: writeKeyringFilter(ctx.config.dataDir),
    userFiles,
    env,
  }
}
