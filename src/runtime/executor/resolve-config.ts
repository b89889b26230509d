import { isSecretName, secretsIn } from '../../access/redaction/redact.ts'
import { isSealed, sealedIn, unreadable } from '../../access/redaction/sealed.ts'
import { openSecrets } from '../../access/secret/open.ts'
import { isOrdinaryValue } from '../../adapter/ordinary-value.ts'
import { secretCandidates, secretNames, withSecrets } from '../../adapter/secrets.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import type { Context } from '../../platform/context.ts'
import { openEnv } from '../../work/project/env.ts'
import type { Refuse } from '../not-startable.ts'
import type { IssueBrief } from './prepare-queries.ts'

/**
 * Resolves an agent's configuration for its adapter: merges the project's
 * environment, which the agent's own overrides, and inserts the stored secrets.
 * A secret that is missing or unreadable is refused and left empty.
 *
 * @param own the parsed configuration
 * @returns the configuration, and every secret value in it
 */
export function resolveConfig(
  ctx: Context,
  agent: AgentRow,
  own: Record<string, unknown>,
  projectEnv: Record<string, unknown>,
  refuse: Refuse,
) {
  const config: Record<string, unknown> = own.env ? { ...own, env: { ...projectEnv, ...own.env } } : own
  const names = secretNames(config)
  const opened = openSecrets(ctx, agent.company_id, names)
  const missing = names.filter((name) => !opened.has(name))
  if (missing.length > 0) {
    refuse(
      'unknown_secret',
      `The company has no secret named ${missing.join(', ')}. Store it, or remove it from the env.`,
    )
  }
  const sealed = names.filter((name) => opened.get(name) === undefined)
  if (sealed.length > 0) {
    refuse(
      'secret_unreadable',
      `The secret ${sealed.join(', ')} cannot be decrypted: keys/secret.key is not the key that encrypted it. Rotate the secret.`,
    )
  }
  const resolved = withSecrets(config, (name) => opened.get(name) ?? '')
  const [header] = Object.entries(resolved.headers ?? {}).find(([, value]) => /[\r\n]/.test(value)) ?? []
  if (header)
    refuse('invalid_secret', `The secret in the header ${header} contains a line break, which HTTP does not allow.`)
  return {
    config: resolved,
    secrets: [...opened.values(), ...plainSecrets(resolved)].filter((one) => one !== undefined),
  }
}

/** Decrypts the environment of the issue's project. It refuses unreadable values and leaves them out. */
export function envOfProject(
  ctx: Context,
  agent: AgentRow,
  issue: IssueBrief,
  refuse: Refuse,
): Record<string, unknown> {
  const { project_id, project_name, project_env } = issue
  if (project_id === null || project_name === null || project_env === null) return {}
  const env = openEnv(ctx, { id: project_id, company_id: agent.company_id, env: project_env })
  const sealed = sealedIn(env, 'env')
  if (sealed.length > 0) refuse('secret_unreadable', unreadable(sealed, `the project ${project_name}`))
  return Object.fromEntries(Object.entries(env).filter(([, value]) => !isSealed(value)))
}

/**
 * Returns the plain values of the configuration that must not appear in the
 * output. A value counts as a secret by its name, by its form, or unless it is
 * recognizably ordinary: names alone do not find `STRIPE_KEY` or `DEPLOY_PASS`.
 */
const plainSecrets = (config: Record<string, unknown>): string[] =>
  secretCandidates(config).flatMap(([name, value]) => (isSecretName(name) ? [value] : secretPartsOf(name, value)))

/** Returns the parts of a value that are secrets by their form, and the whole value unless its rest is ordinary. */
function secretPartsOf(name: string, value: string): string[] {
  const parts = secretsIn(value)
  const rest = parts.reduce((text, part) => text.replaceAll(part, ''), value).replace('://@', '://')
  return isOrdinaryValue(name, rest) ? parts : [value, ...parts]
}
