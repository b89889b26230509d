import type { Context } from '../../platform/context.ts'
import { findSecretsByName } from './queries.ts'

/**
 * Opens a company's secrets, for the start of a run and nothing else. Names
 * that the company does not have are not in the answer; undefined stands for a
 * secret that the key does not open.
 */
export function openSecrets(
  ctx: Context,
  companyId: string,
  names: readonly string[],
): Map<string, string | undefined> {
  if (names.length === 0) return new Map()
  const rows = findSecretsByName(ctx.db, { companyId, names })
  return new Map(rows.map(({ name, sealed }) => [name, ctx.vault.open({ companyId, name }, sealed)]))
}
