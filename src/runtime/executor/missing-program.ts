import { adapterOf } from '../../adapter/registry.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { holdAgent } from '../../organization/agent/hold.ts'
import { updateAgent } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import { findProgram } from '../process/capabilities.ts'
import { findIssueBrief } from './prepare-queries.ts'

/** The shortest time, in milliseconds, until the server looks for a missing program again. */
const RECHECK_MS = 60_000

const PROGRAM_NOT_FOUND = 'program not found:'

/**
 * Holds an agent whose program is not on this machine. Its wakes wait, and no
 * run fails. The server is not notified when the program is installed, so it
 * checks again each minute.
 *
 * @returns whether the agent is held
 */
export function holdIfProgramMissing(ctx: Context, agent: AgentRow, issueId: string | null): boolean {
  const { command, env } = JSON.parse(agent.adapter_config) as { command?: unknown; env?: Record<string, unknown> }
  const program = command ?? adapterOf(agent.adapter_type)?.defaultCommand
  // A PATH of the agent or of the project is resolved only at the start of the run, which checks the program again.
  if (typeof program !== 'string' || env?.PATH !== undefined || hasOwnPath(ctx, issueId)) return false
  if (findProgram(program, ctx.config.environment.PATH)) return false
  holdForMissingProgram(ctx, agent, RECHECK_MS)
  return true
}

/**
 * Holds an agent whose program is missing, or ends that hold if the program is
 * there. A person who asks for a run may have installed it in this minute.
 */
export function recheckProgram(ctx: Context, agent: AgentRow, issueId: string | null): void {
  if (holdIfProgramMissing(ctx, agent, issueId) || !agent.held_because?.startsWith(PROGRAM_NOT_FOUND)) return
  updateAgent(ctx.db, agent.id, { held_until: null, held_because: null, updated_at: ctx.now })
}

/**
 * Holds an agent because its program is not on this machine.
 *
 * @param waitMs the hold in milliseconds; at least a minute applies
 */
export function holdForMissingProgram(ctx: Context, agent: AgentRow, waitMs: number): void {
  const adapter = adapterOf(agent.adapter_type)
  const program = JSON.parse(agent.adapter_config).command ?? adapter?.defaultCommand ?? agent.adapter_type
  const until = new Date(Date.parse(ctx.now) + Math.max(waitMs, RECHECK_MS)).toISOString()
  const demo = 'The built-in demo agent needs no program: `service demo`.'
  const help = adapter?.installHint ? `. ${adapter.installHint} ${demo}` : ''
  holdAgent(ctx, agent, until, `${PROGRAM_NOT_FOUND} ${program}${help}`)
}

function hasOwnPath(ctx: Context, issueId: string | null): boolean {
  const env = issueId === null ? null : findIssueBrief(ctx.db, issueId)?.project_env
  return env != null && Object.hasOwn(JSON.parse(env), 'PATH')
}
