import * as v from 'valibot'
import { sealedIn, unreadable } from '../../access/redaction/sealed.ts'
import type { Adapter } from '../../adapter/adapter.ts'
import { adapterOf } from '../../adapter/registry.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { isOpenAdapter } from '../../organization/agent/approved-config.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import type { Context } from '../../platform/context.ts'
import { NotStartable } from '../not-startable.ts'

export interface AdapterConfig {
  adapter: Adapter
  /** The parsed `adapterConfig`. References to secrets are not resolved yet. */
  config: Record<string, unknown>
}

/**
 * Parses an agent's `adapterConfig` with the schema of its adapter. Returns
 * the problem if the configuration is unusable: an unknown adapter, a value
 * that cannot be decrypted, a value that the schema rejects, or a program or
 * URL that the board has not approved.
 */
export function readAdapterConfig(ctx: Context, agent: AgentRow, adapterType: string): AdapterConfig | NotStartable {
  const adapter = adapterOf(adapterType)
  if (!adapter) return new NotStartable('unknown_adapter', `There is no adapter ${adapterType}.`)
  const { adapterConfig } = configOf(ctx, agent)
  const sealed = sealedIn(adapterConfig, 'adapterConfig')
  if (sealed.length > 0) return new NotStartable('secret_unreadable', unreadable(sealed, agent.name))
  const parsed = v.safeParse(adapter.config, adapterConfig)
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'adapterConfig'}: ${issue.message}`)
    return new NotStartable('invalid_config', `adapterConfig of ${adapter.type} is not valid: ${faults.join(' ')}`)
  }
  if (agent.config_approved === 0 && isOpenAdapter(adapter.type)) {
    const what = adapter.startsProgram ? 'program' : 'URL'
    const message = `The board has not approved the ${what} of ${agent.name}. Approve its configuration.`
    return new NotStartable('configuration_not_approved', message)
  }
  return { adapter, config: requirePromptsUnlessApproved(agent, adapter, parsed.output) }
}

/** Makes the program show its permission prompts, unless a person has approved the configuration. */
const requirePromptsUnlessApproved = (
  agent: AgentRow,
  { skipsPermissionsKey }: Adapter,
  config: Record<string, unknown>,
) =>
  agent.config_approved === 1 || skipsPermissionsKey === null ? config : { ...config, [skipsPermissionsKey]: false }
