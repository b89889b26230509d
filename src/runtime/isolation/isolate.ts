import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Adapter, UserFiles } from '../../adapter/adapter.ts'
import type { SandboxMode } from '../../adapter/config.ts'
import { adapterOf } from '../../adapter/registry.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { ownFolder } from '../../organization/agent/allowed-folder.ts'
import { unapprovedPaths } from '../../organization/agent/approved-config.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { realPath } from '../../platform/real-path.ts'
import type { CheckedPath } from '../process/checked-path.ts'
import type { RunSpec } from '../process/run-files.ts'
import { gitMountsOf, makeGitMounts } from '../worktree/git-mounts.ts'
import type { WorktreeRow } from '../worktree/queries.ts'
import type { Isolation } from './isolation.ts'
import { isLinkOfRun } from './link-of-run.ts'
import { containsHome, copyOf, type Sandbox, sandboxArgv, sandboxEnv, stateFolder } from './sandbox.ts'

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
export async function isolate(
  ctx: Context,
  isolation: Isolation,
  run: ToIsolate,
  refuse: (code: string, message: string) => void,
): Promise<RunSpec> {
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
  const sandbox = sandboxOf(ctx, run)
  if (containsHome(spec.cwd, sandbox.env)) {
    const message = `The working directory ${spec.cwd} contains your home directory, which a sandboxed run must not read.`
    refuse('sandbox_folder', `${message} Set adapterConfig.cwd to a folder inside it.`)
  }
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
 * Returns the real path of each path that the sandbox binds. Refuses one that
 * leads through a link which a run may have made.
 */
async function checkPaths(
  ctx: Context,
  { agent, spec, allowed }: ToIsolate,
  paths: readonly string[],
  refuse: (code: string, message: string) => void,
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

/** Creates the folders, and the copies of settings, that must exist before a sandboxed run starts. */
export async function makeSandboxFolders(
  ctx: Context,
  run: Pick<RunRow, 'agent_id' | 'adapter_type'>,
  { spec, worktree }: { spec: RunSpec; worktree: Worktree | null },
): Promise<void> {
  if (!spec.reader.env) return // not sandboxed
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

const NO_MOUNTS = { readable: [], writable: [], guarded: [] }

const NO_FILES: UserFiles = { login: [], sessions: [] }

const stateDirOf = (ctx: Context, agentId: string) => path.join(ctx.config.dataDir, 'sandbox', agentId)

function sandboxOf(ctx: Context, run: ToIsolate): Sandbox {
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
    // The demo agent is part of the package and runs on the server's own Node.
    readable: [...readable, ...git.readable, ...certificates, packageRoot(), path.dirname(process.execPath)],
    userFiles,
    env,
    command: spec.command,
  }
}
