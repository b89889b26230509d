import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Json } from '../../access/redaction/redact.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'
import { isReady } from './lifecycle.ts'
import { findAgent, updateAgent } from './queries.ts'
import { firstTimerDue } from './timer.ts'

/** The keys of `adapterConfig` that need the board's approval if an agent sets them: paths of this machine, and the sandbox. */
const GUARDED_KEYS = ['cwd', 'instructionsFilePath', 'sandbox'] as const

/**
 * Whether an adapter runs any program, or posts to any address, that its
 * configuration names. Unapproved agents with such an adapter do not run.
 */
export const isOpenAdapter = (type: string): boolean => type === 'process' || type === 'http'

/** Returns the keys of `adapterConfig` that an agent set and the board has not approved. */
export const unapprovedPaths = (agent: Pick<AgentRow, 'unapproved_paths'>): string[] =>
  JSON.parse(agent.unapproved_paths)

/**
 * Returns the columns about approval for a new configuration. A company that
 * trusts its hires trusts their paths, but only the board turns a sandbox off.
 */
export const approvalColumns = (caller: Caller, config: Json, isApproved: boolean) => ({
  config_approved: isApproved ? (1 as const) : (0 as const),
  unapproved_paths: JSON.stringify(
    GUARDED_KEYS.filter(
      (key) => typeof config[key] === 'string' && (!isApproved || (key === 'sandbox' && caller.type !== 'board')),
    ),
  ),
})

/** Returns `unapproved_paths` after a change: a key counts as approved if the board set it, and not if an agent did. */
export function unapprovedPathsAfter(caller: Caller, agent: AgentRow, before: Json, after: Json): string {
  const unapproved = unapprovedPaths(agent)
  const isUnapproved = (key: string) =>
    before[key] === after[key] ? unapproved.includes(key) : caller.type !== 'board' && typeof after[key] === 'string'
  return JSON.stringify(GUARDED_KEYS.filter(isUnapproved))
}

/**
 * Records that the board approved an agent's configuration: its runs are no
 * longer restricted, and its timer starts.
 *
 * @param seen the `adapterConfig` that the board saw; a path that an agent has changed since stays unapproved
 */
export function approveConfig(ctx: Context, caller: Caller, agent: AgentRow, seen: Json, current: Json): void {
  const left = JSON.stringify(unapprovedPaths(agent).filter((key) => seen[key] !== current[key]))
  if (agent.config_approved === 1 && agent.unapproved_paths === left) return
  const startsTimer = agent.config_approved === 0 && isReady(agent.status)
  updateAgent(ctx.db, agent.id, {
    config_approved: 1,
    unapproved_paths: left,
    ...(startsTimer && { timer_due_at: firstTimerDue({ ...agent, config_approved: 1 }, ctx.now) }),
    updated_at: ctx.now,
  })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.configuration_approved',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name },
  })
}

/** Allows an agent to use a folder in its next run. */
export function allowFolderOnce(ctx: Context, agentId: string, folder: string): void {
  const agent = findAgent(ctx.db, { id: agentId })!
  const allowed = new Set([...(JSON.parse(agent.allowed_once) as string[]), folder])
  updateAgent(ctx.db, agentId, { allowed_once: JSON.stringify([...allowed]), updated_at: ctx.now })
}
