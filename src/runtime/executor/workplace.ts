import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Adapter } from '../../adapter/adapter.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { ownFolder, resolveAgentPath } from '../../organization/agent/allowed-folder.ts'
import { unapprovedPaths } from '../../organization/agent/approved-config.ts'
import type { Context } from '../../platform/context.ts'
import { isolateProbe, sandboxModeOf } from '../isolation/isolate.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { isLinkOfRun } from '../isolation/link-of-run.ts'
import type { Refuse } from '../not-startable.ts'
import { type createProbe, findProgram } from '../process/capabilities.ts'
import type { ProjectWorkspaces } from './prepare-queries.ts'
import { isMachineFault } from './system-fault.ts'

/** The inputs for choosing a run's directories, and the function that records problems. */
export interface Workplace {
  ctx: Context
  agent: AgentRow
  config: Record<string, unknown>
  workspaces: ProjectWorkspaces
  refuse: Refuse
}

/**
 * Chooses the working directory: the configured one, else the workspace of the
 * issue's project, else the agent's own folder. Refuses a directory that an
 * agent set outside the allowed folders.
 *
 * @returns the directory, and its real path if the run may enter only that
 */
export async function chooseCwd(place: Workplace): Promise<{ cwd: string; realCwd: string | null }> {
  const { ctx, agent, config, workspaces, refuse } = place
  const isConfigured = typeof config.cwd === 'string'
  const wanted = isConfigured ? (config.cwd as string) : workspaces.primary
  if (wanted === null) return { cwd: ownFolder(ctx, agent.id), realCwd: null }
  const isApproved = isConfigured ? !unapprovedPaths(agent).includes('cwd') : workspaces.approved.includes(wanted)
  const cwd = isApproved ? wanted : await allowedPath(place, isConfigured ? 'cwd' : 'workspace', wanted)
  if (cwd === null) return { cwd: wanted, realCwd: null }
  const found = await stat(cwd).catch((error) => {
    if (isMachineFault(error)) throw error
  })
  if (!found?.isDirectory()) {
    refuse('cwd_missing', `The working directory ${wanted} ${found ? 'is not a directory' : 'does not exist'}.`)
  }
  // The links of an agent's path were resolved.
  return { cwd, realCwd: isApproved ? null : cwd }
}

/** Returns the path with its symbolic links resolved, or null if an agent set it and the board has not allowed its folder. */
async function allowedPath(
  { ctx, agent, workspaces, refuse }: Workplace,
  key: 'cwd' | 'workspace' | 'instructionsFilePath',
  wanted: string,
): Promise<string | null> {
  const { path: real, access } = await resolveAgentPath(ctx, agent, wanted, workspaces.approved)
  if (access === 'allowed') return real
  const folder = key === 'instructionsFilePath' ? path.dirname(wanted) : wanted
  if (access === 'never') {
    refuse(
      'folder_not_allowed',
      `The board has not allowed this folder: ${folder}. It contains the data of the server.`,
    )
  } else {
    const request = { key, path: wanted, folder: key === 'instructionsFilePath' ? path.dirname(real) : real }
    refuse('folder_not_allowed', `The board has not allowed this folder: ${folder}.`, [request])
  }
  return null
}

/** The size limit of an instructions file, in bytes. */
const MAX_INSTRUCTIONS = 4_000_000

/** Reads the agent's instructions and their hash. Returns null if it has none, or if the file is refused as unreadable. */
export async function readInstructions(place: Workplace, adapter: Adapter, cwd: string) {
  const { agent, config, refuse } = place
  const named = adapter.instructionsKey === null ? undefined : config[adapter.instructionsKey]
  if (typeof named !== 'string') return null
  const unapproved = unapprovedPaths(agent)
  const isApproved =
    !unapproved.includes(adapter.instructionsKey!) && (path.isAbsolute(named) || !unapproved.includes('cwd'))
  const wanted = path.resolve(cwd, named)
  const file = isApproved ? wanted : await allowedPath(place, 'instructionsFilePath', wanted)
  if (file === null) return null
  try {
    const text = await readPlainFile(file, (opened) => mayRead(place, adapter, { wanted: file, opened, isApproved }))
    return { path: file, text, hash: createHash('sha256').update(text).digest('base64url') }
  } catch (error) {
    if (isMachineFault(error)) throw error
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    refuse('instructions_missing', `The instructions file ${wanted} cannot be read (${why}).`)
    return null
  }
}

/**
 * Whether the file that a path led to may be read. A run may replace the file,
 * or a folder above it, by a link to a file that only the server can read. A
 * path that an agent set has no links, since they were resolved. A path of the
 * board may have links, except those that a sandboxed run may have made.
 */
async function mayRead(
  { ctx, agent, config, workspaces }: Workplace,
  adapter: Adapter,
  { isApproved, ...file }: { wanted: string; opened: string; isApproved: boolean },
): Promise<boolean> {
  if (!isApproved) return file.opened === file.wanted
  if (sandboxModeOf(ctx, { agent, adapter, config }) === 'off') return true
  const cwd = typeof config.cwd === 'string' ? [config.cwd] : []
  return !(await isLinkOfRun(ctx, agent, file, [...workspaces.approved, ...cwd]))
}

/**
 * Reads a regular file. It refuses pipes, which would block the read, and
 * endless devices.
 *
 * @param mayRead receives the real path of the opened file
 */
async function readPlainFile(file: string, mayRead: (opened: string) => Promise<boolean>): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!(await mayRead(await pathOf(handle, file)))) throw new Error('a link leads out of its folder')
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw new Error('not a regular file')
    if (found.size > MAX_INSTRUCTIONS) throw new Error(`larger than ${MAX_INSTRUCTIONS} bytes`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** Returns the real path of an open file. Only Linux knows it; elsewhere it is the path that the file has after the opening. */
const pathOf = ({ fd }: FileHandle, file: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${fd}`) : realpath(file)

/**
 * Returns the options that the program's help lists, or null if unknown. The
 * program is isolated as in the run. Refuses a missing program, with an
 * installation hint.
 */
export async function findFlags(
  { ctx, agent, config, refuse }: Workplace,
  adapter: Adapter,
  { cwd, probe, isolation }: { cwd: string; probe: ReturnType<typeof createProbe>; isolation: Isolation },
) {
  if (typeof config.command !== 'string') return null
  const searchPath = (config.env as Record<string, string> | undefined)?.PATH ?? ctx.config.environment.PATH
  const isolate = adapter.helpArgs ? await isolateProbe(ctx, isolation, { agent, adapter, config, cwd }) : undefined
  const found = isolate
    ? await probe(config.command, adapter.helpArgs!, searchPath, isolate)
    : findProgram(config.command, searchPath) && { flags: null }
  if (found) return found.flags
  const hint = adapter.installHint ? ` ${adapter.installHint}` : ''
  refuse('command_missing', `The program ${config.command} was not found on this machine.${hint}`)
  return null
}
