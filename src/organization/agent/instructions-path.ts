import path from 'node:path'
import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { adapterOf } from '../../adapter/registry.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { applyConfig } from './change.ts'
import { configOf } from './configuration.ts'
import { isAbove } from './queries.ts'
import { assertNotTerminated } from './update.ts'

const file = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty; null clears it'),
  v.maxLength(4_096),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches the forbidden characters.
  v.regex(/^[^\u0000-\u001f\u007f]*$/, 'must be one line'),
)

export const InstructionsPathChange = v.strictObject({
  path: v.nullable(file),
  adapterConfigKey: v.optional(v.string()),
})

export const InstructionsPath = v.strictObject({
  agentId: v.string(),
  adapterType: v.string(),
  adapterConfigKey: v.string(),
  path: v.nullable(v.string()),
})

/**
 * Sets the path of an agent's instructions. A relative path resolves against
 * its `cwd`; null clears it. The agent itself, the managers above it and the
 * board may set it. It is the only part of the configuration that an agent may
 * set itself.
 */
export function setInstructionsPath(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  want: v.InferOutput<typeof InstructionsPathChange>,
): v.InferOutput<typeof InstructionsPath> {
  assertMaySetInstructions(ctx, caller, agent)
  assertNotTerminated(agent)
  const key = keyFor(agent, want.adapterConfigKey)
  const before = configOf(ctx, agent)
  const { [key]: _, ...others } = before.adapterConfig
  const resolved = want.path === null ? null : resolve(agent, before.adapterConfig.cwd, want.path)
  const adapterConfig = resolved === null ? others : { ...before.adapterConfig, [key]: resolved }
  applyConfig(ctx, caller, agent, { ...before, adapterConfig }, { source: 'patch' })
  return { agentId: agent.id, adapterType: agent.adapter_type, adapterConfigKey: key, path: resolved }
}

function assertMaySetInstructions(ctx: Context, caller: Caller, agent: AgentRow): void {
  if (caller.type !== 'agent' || caller.agentId === agent.id) return
  if (isAbove(ctx.db, { managerId: caller.agentId, agentId: agent.id })) return
  throw forbidden(`Only ${agent.name} itself, the managers above it and the board may set its instructions path.`)
}

/**
 * Returns the key of the path: the adapter's own key or, for an adapter without
 * one, the named key. Only a key whose value is a file can be named, because
 * other keys decide what runs.
 */
function keyFor(agent: AgentRow, named: string | undefined): string {
  const own = adapterOf(agent.adapter_type)?.instructionsKey ?? null
  if (own !== null) {
    if (named === undefined || named === own) return own
    throw wrongKey(`The ${agent.adapter_type} adapter stores the instructions path under ${own}. Omit the key.`)
  }
  if (named === undefined) {
    throw wrongKey(`The ${agent.adapter_type} adapter has no key for the instructions path. Name one.`)
  }
  if (/^[A-Za-z]+(File|Path)$/.test(named)) return named
  throw wrongKey(`${named} is not a key for a path: such keys end with Path or File.`)
}

const wrongKey = (message: string) =>
  new AppError('semantic', `adapterConfigKey: ${message}`, { field: 'adapterConfigKey' })

function resolve(agent: AgentRow, cwd: unknown, file: string): string {
  if (path.isAbsolute(file)) return file
  if (typeof cwd === 'string' && path.isAbsolute(cwd)) return path.resolve(cwd, file)
  throw new AppError(
    'semantic',
    `path: ${agent.name} has no adapterConfig.cwd, so a relative path cannot be resolved. Send an absolute path.`,
    { field: 'path' },
  )
}
