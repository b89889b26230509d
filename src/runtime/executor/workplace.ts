import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Adapter } from '../../adapter/adapter.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import type { Context } from '../../platform/context.ts'
import { type createProbe, which } from '../process/capabilities.ts'
import type { Refuse } from './not-startable.ts'
import { isMachineFault } from './system-fault.ts'

/** Where an agent works that has no directory of its own to work in. */
export const ownFolder = (ctx: Context, agentId: string) => path.join(ctx.config.dataDir, 'agents', agentId)

/** The configured directory, else the workspace, else the agent's own folder. */
export async function chooseCwd(
  ctx: Context,
  agent: AgentRow,
  config: Record<string, unknown>,
  workspaceCwd: string | null,
  refuse: Refuse,
): Promise<string> {
  const configured = typeof config.cwd === 'string' ? config.cwd : workspaceCwd
  if (configured === null) return ownFolder(ctx, agent.id)
  const found = await stat(configured).catch(() => undefined)
  if (!found?.isDirectory()) {
    refuse('cwd_missing', `The working directory ${configured} ${found ? 'is no directory' : 'does not exist'}.`)
  }
  return configured
}

/** The agent's instructions with their hash; null when it has none. A file that cannot be read is refused. */
export async function readInstructions(adapter: Adapter, config: Record<string, unknown>, cwd: string, refuse: Refuse) {
  const named = adapter.instructionsKey === null ? undefined : config[adapter.instructionsKey]
  if (typeof named !== 'string') return null
  const file = path.resolve(cwd, named)
  try {
    const text = await readFile(file, 'utf8')
    return { path: file, text, hash: createHash('sha256').update(text).digest('base64url') }
  } catch (error) {
    if (isMachineFault(error)) throw error
    const why = (error as NodeJS.ErrnoException).code
    refuse('instructions_missing', `The instructions file ${file} cannot be read (${why}).`)
    return null
  }
}

/** The options that the program lists; a missing program is said here, with how to get it. */
export async function findFlags(
  ctx: Context,
  adapter: Adapter,
  config: Record<string, unknown>,
  probe: ReturnType<typeof createProbe>,
  refuse: Refuse,
) {
  if (typeof config.command !== 'string') return null
  const found = adapter.helpArgs
    ? await probe(config.command, adapter.helpArgs)
    : (await which(config.command, ctx.config.environment.PATH ?? '')) && { flags: null }
  if (found) return found.flags
  const hint = adapter.installHint ? ` ${adapter.installHint}` : ''
  refuse('command_missing', `The program ${config.command} was not found on this machine.${hint}`)
  return null
}
