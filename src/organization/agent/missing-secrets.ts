import { redact } from '../../access/redaction/redact.ts'
import { findSecretsByName } from '../../access/secret/queries.ts'
import { secretNames } from '../../adapter/secrets.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'

/**
 * Returns the secrets that an agent lacks: stored secrets to which its
 * configuration refers, and required variables of its package without a value.
 */
export function missingSecrets(ctx: Pick<Context, 'db'>, row: AgentRow): string[] {
  const config = redact(JSON.parse(row.adapter_config))
  const names = secretNames(config)
  const stored = names.length === 0 ? [] : findSecretsByName(ctx.db, { companyId: row.company_id, names })
  const unknown = names.filter((name) => !stored.some((secret) => secret.name === name))
  const unset = requiredInputs(row).filter((name) => !Object.hasOwn((config.env as object | undefined) ?? {}, name))
  return [...new Set([...unknown, ...unset])].sort()
}

/** Returns the secret variables that the package of an agent requires. An import stores them in the metadata. */
function requiredInputs({ metadata }: AgentRow): string[] {
  const inputs: unknown = metadata === null ? null : (JSON.parse(metadata) as { inputs?: unknown }).inputs
  return (Array.isArray(inputs) ? inputs : [])
    .filter((input) => input?.kind === 'secret' && input.requirement === 'required')
    .map((input) => input.name)
    .filter((name) => typeof name === 'string')
}
